"""What the update of a baseline changes in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.families import ENGINE_WRAPPER
from pytest_opcost.judge import signed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.baselines import Baseline

#: Of operators of this share of the step, moves of this part of their cost are told, the largest of them.
_SHARE_FLOOR, _WORTH_TELLING, _MOST_TOLD = 0.02, 0.1, 3


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
    words += [f"new: {told}"] if (told := _names(name for name in now if name not in was)) else []
    words += [f"gone: {told}"] if (told := _names(name for name in was if name not in now)) else []
    both = [(op, now[name]) for name, op in was.items() if name in now and not name.startswith(ENGINE_WRAPPER)]
    calls = [f"{one.name} {one.calls} -> {two.calls} calls" for one, two in both if one.calls != two.calls]
    words += calls[:_MOST_TOLD] + ([f"and {more} more"] if (more := len(calls[_MOST_TOLD:])) else [])
    # What is called as often as before, and moved by no more than noise may make of it, is none of this change's doing.
    moves = [
        (after.cost_us(two) / before.cost_us(one) - 1, one.name)
        for one, two in both
        if one.calls == two.calls and one.share >= _SHARE_FLOOR and before.cost_us(one) > 0
    ]
    moves.sort(key=lambda move: -abs(move[0]))
    words += [f"{name} {signed(change)}" for change, name in moves[:_MOST_TOLD] if abs(change) >= _WORTH_TELLING]
    return tuple(words)


def _names(names: Iterable[str]) -> str:
    """In one line; autograd's own wrapper around a node is told by the node."""
    return ", ".join(name for name in names if not name.startswith(ENGINE_WRAPPER))
