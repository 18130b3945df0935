"""What a run goes through, from a topic to its result: one topic, all topics, workers, all optima."""
