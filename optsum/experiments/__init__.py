"""Runs over whole corpora: the experiment, the folder of a run, and merging of shards."""
