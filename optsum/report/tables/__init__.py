"""Tables: how one is described and written in the languages of others, and those of results and frontiers."""
