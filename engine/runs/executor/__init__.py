"""Where chunks of replicas run: in this process, or as tasks on a Dask cluster.

A chunk has a generator and a checkpoint of its own, so it runs anywhere, in any order, twice if a
machine dies, and gives the same numbers. `Local` and `Cluster` are the only two executors, and the
same tests hold both, number for number.
"""
