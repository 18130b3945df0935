"""Options in files: read, written, and checked against what a file may hold."""
