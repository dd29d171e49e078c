"""What must be set before torch is loaded."""

import os

# Some of MKL's products depend in the last place on where in memory their factors lie, which a
# tensor on a device that stands in for another does not share with the processor's.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
