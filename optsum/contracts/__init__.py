"""The classes that plug-ins implement or use: strategies, backends, runs and results."""
