"""The command ``bayescal``, also run as ``python -m bayescal``."""

import sys


def main() -> int:
    """Run the command line; Ctrl-C while it loads ends it as it does later."""
    try:
        from bayescal.cli.main import main

        return main()
    except KeyboardInterrupt:
        print("bayescal: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
