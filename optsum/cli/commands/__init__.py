"""The commands, grouped by their subject: a function `run_NAME` is the command NAME, and its docstring the help."""
