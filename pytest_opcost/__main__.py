"""`python -m pytest_opcost` is `opcost`."""

from __future__ import annotations

import sys

from pytest_opcost.shell.main import main

if __name__ == "__main__":  # not where another process of ours imports it
    sys.exit(main())
