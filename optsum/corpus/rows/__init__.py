"""Result rows: written in the format that the name of the output says, kept whatever happens, and read back."""
