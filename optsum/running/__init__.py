"""Make results of topics: one problem, many topics one after another, or many by several processes."""
