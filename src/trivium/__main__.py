"""`trivium` and `python -m trivium`."""

import sys


def main() -> None:
    from trivium.doors.cli.main import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
