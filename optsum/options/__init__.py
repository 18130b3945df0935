"""The options of users, from files or arguments, and their meaning."""
