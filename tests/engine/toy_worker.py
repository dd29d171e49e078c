"""`python -m tests.engine.toy_worker`: the worker, with the toy among its papers."""

from engine import worker
from tests.engine import toy

if __name__ == "__main__":
    toy.register()
    worker.main()
