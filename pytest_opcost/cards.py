"""A CUDA card of its own for each worker of pytest-xdist, where there are several."""

from __future__ import annotations

import importlib.util
import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, MutableMapping

_VISIBLE = "CUDA_VISIBLE_DEVICES"
#: What CUDA_VISIBLE_DEVICES was before: whatever a worker starts, it is not turned again.
_TURNED = "PYTEST_OPCOST_TURNED_CARDS"


def turn_cards(
    words: Iterable[str], environ: MutableMapping[str, str] = os.environ, count: Callable[[], int] | None = None
) -> None:
    """In a worker of pytest-xdist, put another card first for each: `cuda` is card K, modulo their number, in worker K.

    All cards stay visible, so that a test that needs two has them. `words` are the options as they are written: only
    where one of them says `cuda`, and none `cuda:1`, which is obeyed as it is. CUDA reads the order once, when it is
    first asked for anything, so this comes before all conftests; `count` says how many cards there are.
    """
    worker = re.fullmatch(r"gw(\d+)", environ.get("PYTEST_XDIST_WORKER", ""))
    text = " ".join(words)
    if worker is None or _TURNED in environ or re.search(r"\bcuda:\d", text) or not re.search(r"\bcuda\b", text):
        return
    before = environ.get(_VISIBLE)
    cards = [str(card) for card in range((count or _count)())]
    if before:
        cards = before.split(",")[: len(cards)]
    if len(cards) < 2:
        return
    first = int(worker[1]) % len(cards)
    environ[_TURNED] = before or ""
    environ[_VISIBLE] = ",".join([*cards[first:], *cards[:first]])


def _count() -> int:
    """How many cards torch sees, asked so that CUDA is not initialised; 0 where that has happened already."""
    if importlib.util.find_spec("torch") is None:
        return 0
    import torch

    begun = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return 0 if begun else torch.cuda.device_count()
