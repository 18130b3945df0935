"""The commands, by what they work on: the function `run_` and its name is a command, its docstring the help."""
