"""Methods of `unittest.TestCase`, which get no fixtures as arguments: what they ask for in vain."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

_FIXTURES = frozenset(
    ("opcost", "opcost_device", "opcost_batch_size", "mnist", "lenet", "lenet5", "lenet_step", "lenet_training")
)


def asked_in_vain(item: pytest.Item) -> tuple[str, ...]:
    """The arguments of a TestCase's method, if a fixture of this plugin is among them; none for every other test."""
    unittest, owner = sys.modules.get("unittest"), getattr(item, "cls", None)
    if unittest is None or owner is None or not issubclass(owner, unittest.TestCase):
        return ()
    arguments = tuple(inspect.signature(getattr(owner, item.name)).parameters)[1:]
    return arguments if _FIXTURES.intersection(arguments) else ()


def refusal(item: pytest.Item) -> str:
    """Why such a test is not run, and what to do; empty for every other test."""
    arguments = asked_in_vain(item)
    if not arguments:
        return ""
    return (
        f"opcost: {item.nodeid} takes {', '.join(arguments)}, and methods of a unittest.TestCase get no fixtures.\n"
        "Expected: a function, or a class that is no TestCase.\n"
        "To stay in this one, give it a fixture that keeps what it needs, and check with self.opcost:\n"
        "    @pytest.fixture(autouse=True)\n"
        "    def _keep_opcost(self, opcost):\n"
        "        self.opcost = opcost"
    )
