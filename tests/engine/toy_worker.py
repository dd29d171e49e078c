"""`python -m tests.engine.toy_worker`: the worker, with the toy as its only paper."""

from engine.catalog import catalog
from engine.service import worker
from tests.engine import toy

if __name__ == "__main__":
    catalog().clear()
    toy.register()
    worker.MEASURES = ()
    worker.main()
