"""Topics that are a folder of files, or a pair of files."""
