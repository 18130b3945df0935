"""Runs over whole corpora: what is to be done, the folder that keeps what is done, shards put together."""
