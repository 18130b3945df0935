"""Read topics and system summaries, and write rows, one at a time; an unusable topic is yielded as a `BadTopic`."""
