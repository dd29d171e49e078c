"""`python -m engine COMMAND`; `--help` lists the commands."""

import sys

from engine.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
