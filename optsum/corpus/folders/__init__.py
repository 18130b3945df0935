"""Topics in a folder of files, or in a pair of files."""
