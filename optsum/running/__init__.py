"""From a topic to its result.

`solve`, `enumerate`, `frontier`, `context` and `search` have the functions of these names, which users call; `inputs`
converts what they give. `each_topic` processes topics, `one_problem` a problem of one, with the best of references;
`workers` and `executors` distribute the work over processes.
"""
