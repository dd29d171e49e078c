"""`python -m engine list|price|run|runs|stop|delete|export|reproduce`."""

import sys

from engine.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
