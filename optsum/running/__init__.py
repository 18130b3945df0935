"""The stages from a topic to its result: one topic, all topics, workers, all optima."""
