"""The classes that third parties implement and receive: strategies, backends, runs and results."""
