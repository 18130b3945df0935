"""From a topic to its result: one problem, one topic after another, and by several processes."""
