"""The options that a user gives, in a file or as arguments, and their meaning."""
