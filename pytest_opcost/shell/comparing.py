"""Two sides -> all their comparisons; those of large folders are spread over the cores of the machine."""

from __future__ import annotations

import signal
from collections import defaultdict
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import repeat
from typing import TYPE_CHECKING, TypeAlias

from pytest_opcost import yaml_text
from pytest_opcost.cores import cores
from pytest_opcost.garbage import no_garbage_collection
from pytest_opcost.shell.judging import judged
from pytest_opcost.shell.known import Known, baselines_below, read, read_baselines
from pytest_opcost.shell.pairs import Pairs, paired
from pytest_opcost.shell.tables import likened

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_opcost.judge import Rules
    from pytest_opcost.results import CheckResult

#: Checks, each with its files on either side.
Group: TypeAlias = "Sequence[tuple[Sequence[Path], Sequence[Path]]]"

#: A process takes half a second to start, in which another one compares as many.
_WORTH_A_PROCESS = 100


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Pairs, the result of each, and what is wrong with files that could not be read; operators are left out."""

    pairs: Pairs
    results: tuple[CheckResult, ...]
    damaged: tuple[str, ...] = ()


def compared(before: Path, after: Path, rules: Rules) -> Comparisons:
    """What is known of `after` judged against what is known of `before`, whose tests share their false alarms.

    Raises an OpcostError where either cannot be read.
    """
    if before.is_dir() and after.is_dir():
        return _folders(baselines_below(before), baselines_below(after), rules)
    sides = read(before), read(after)
    (first, *more), (second, *others) = (side.found for side in sides)
    # One test on either side is compared with the other, whatever it is of.
    pairs = paired(sides[0].found, sides[1].found) if more or others else Pairs(((first, second),), (), ())
    return _judged(pairs, replace(rules, tests=max(len(pairs.pairs), 1)), (*sides[0].damaged, *sides[1].damaged))


def _folders(before: Sequence[Path], after: Sequence[Path], rules: Rules) -> Comparisons:
    """All files of one check are read and judged by the same process, those of many checks by several."""
    checks: dict[object, tuple[list[Path], list[Path]]] = defaultdict(lambda: ([], []))
    for side, paths in enumerate((before, after)):
        for path in paths:
            checks[_check_of(path)][side].append(path)
    rules = replace(rules, tests=max(sum(len(after) for before, after in checks.values() if before), 1))
    count = max(min(cores(), len(checks) // _WORTH_A_PROCESS), 1)
    groups = list(checks.values())
    parts = [groups[turn::count] for turn in range(count)]
    return _joined(_spread(parts, rules) if count > 1 else [_part(part, rules) for part in parts])


def _check_of(path: Path) -> object:
    """What tells a baseline's check apart; a file that does not say is by itself, and read to say why."""
    test = yaml_text.line_of(path, "test")
    return (test, yaml_text.line_of(path, "check", before="recorded")) if isinstance(test, str) else path


def _spread(parts: Sequence[Group], rules: Rules) -> list[Comparisons]:
    from concurrent.futures import ProcessPoolExecutor

    try:
        with ProcessPoolExecutor(len(parts), initializer=_leave_ctrl_c_to_the_parent) as pool:
            return list(pool.map(_part, parts, repeat(rules)))
    except (OSError, NotImplementedError, BrokenProcessPool):  # a system without semaphores, or without memory
        return [_part(part, rules) for part in parts]


def _leave_ctrl_c_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _part(group: Group, rules: Rules) -> Comparisons:
    # Records refer to no record that refers to them: looking for such takes a tenth of the time.
    with no_garbage_collection():
        # Check by check: what the two sides have in common is read once, if that is not long ago.
        read = [(read_baselines(before), read_baselines(after)) for before, after in group]
        found = [[known for one in side for known in one.found] for side in zip(*read)]
        damaged = tuple(words for sides in read for side in sides for words in side.damaged)
        return _judged(paired(*found), rules, damaged)


def _judged(pairs: Pairs, rules: Rules, damaged: tuple[str, ...]) -> Comparisons:
    pairs = replace(pairs, pairs=tuple(likened(before, after) for before, after in pairs.pairs))
    results = (judged(before, after, rules) for before, after in pairs.pairs)
    results = (replace(result, profile=replace(result.profile, ops=(), flow=None)) for result in results)
    return Comparisons(
        results=tuple(results),
        pairs=Pairs(
            tuple((_brief(before), _brief(after)) for before, after in pairs.pairs),
            tuple(map(_brief, pairs.only_before)),
            tuple(map(_brief, pairs.only_after)),
        ),
        damaged=damaged,
    )


def _brief(known: Known) -> Known:
    """The same without its operators, which are most of it: so it travels quickly between processes."""
    return replace(known, profile=replace(known.profile, ops=(), flow=None), result=None)


def _joined(parts: Sequence[Comparisons]) -> Comparisons:
    """All parts as one, in the order of the files' paths."""
    rows = [(pair, result) for part in parts for pair, result in zip(part.pairs.pairs, part.results)]
    rows.sort(key=lambda row: row[0][1].path)
    pairs = Pairs(
        tuple(pair for pair, _ in rows),
        tuple(sorted((one for part in parts for one in part.pairs.only_before), key=lambda one: one.path)),
        tuple(sorted((one for part in parts for one in part.pairs.only_after), key=lambda one: one.path)),
    )
    return Comparisons(pairs, tuple(result for _, result in rows), tuple(sorted(d for p in parts for d in p.damaged)))
