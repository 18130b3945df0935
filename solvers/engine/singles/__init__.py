"""The exact engine for programs whose occurrences are decided by single units: plain extracts."""
