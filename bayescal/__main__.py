"""Run the command line as ``python -m bayescal``."""

import sys

from bayescal.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
