"""Numbers that do not depend on how many threads torch has.

Products of matrices are added up in one order (`engine.service.job_runner.set_threads`). Three
kinds of work are not: elementwise functions, since the last elements of every thread's share are
computed by other code than the rest; sums to one number; and eigenvectors, solvers and slopes of
convolutions, which libraries divide among threads. A function in which they are is `steady`.
"""

from engine.training.threads import single_thread

steady = single_thread()
"""Runs a function on one thread. Numbers that ship are of one thread, so it changes none of them,
and they do not count as those of an earlier version (`engine.runs.changes`)."""
