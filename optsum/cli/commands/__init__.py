"""The commands, grouped by subject: the function `run_NAME` is the command NAME, and its docstring is the help."""
