"""The potential and limitations of sentence extraction (Lin & Hovy 2003)."""
