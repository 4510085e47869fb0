"""What all tests of the plugin share."""

from __future__ import annotations

pytest_plugins = ["pytester"]
