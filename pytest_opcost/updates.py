"""What the update of a baseline changes in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost import storage
from pytest_opcost.judge import signed

if TYPE_CHECKING:
    from pytest_opcost.baselines import Baseline


def what_changed(old: Baseline, new: Baseline) -> tuple[str, ...]:
    """What an update changes, in a few words: total, ratios, operators that came and went, the largest moves."""
    before, after = old.profile, new.profile
    words = [f"step total {signed(after.total_us / before.total_us - 1)}"] if before.total_us > 0 else []
    ratios = [
        (form, f"{old.ratios[form].value:.3g}", f"{ratio.value:.3g}")
        for form, ratio in new.ratios.items()
        if form in old.ratios
    ]
    words += [f"{form} {then} -> {now}" for form, then, now in ratios if then != now]
    was, now = before.by_name(), after.by_name()
    words += [f"new: {', '.join(names)}"] if (names := [name for name in now if name not in was]) else []
    words += [f"gone: {', '.join(names)}"] if (names := [name for name in was if name not in now]) else []
    moves = [
        (after.cost_us(now[name]) / before.cost_us(op) - 1, name)
        for name, op in was.items()
        if name in now and op.share >= storage.WHOLE_SHARE and before.cost_us(op) > 0
    ]
    moves.sort(key=lambda move: -abs(move[0]))
    words += [f"{name} {signed(change)}" for change, name in moves[:3] if abs(change) >= 0.05]
    return tuple(words)
