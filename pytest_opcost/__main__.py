"""`python -m pytest_opcost` is `opcost`."""

from __future__ import annotations

import sys

from pytest_opcost.shell.main import main

sys.exit(main())
