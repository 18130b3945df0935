"""The options of a search or a scoring, from files or arguments: validated, resolved and described."""
