"""How often clean runs fail, and how small a slowdown is still caught: python tests/benchmarks/verdicts.py

Runs are made up from recorded ones (see corpus.py): a baseline of some fresh processes from one session or several,
and a run in another session, whose first process is the first measurement and whose others are the fresh rounds. They
go through the plugin's own judge. With --paired a run is judged against another commit instead, by pairs as they were
recorded, or else by processes of one session that followed each other; of the first five pairs some repetitions
count, then all of the others, and then what is left of the first, as if other processes had made it. With --any-two
the sides of a pair share nothing but the session.

Clean, anything that fails is a false alarm; with one operator of 5 % of the step or more made dearer by so much,
whatever names it is caught; in the lines of conv/addmm all convolutions are dearer, and whatever names the ratio or one
of them has caught it. Bounds are 95 % (Clopper and Pearson). Nothing is asserted.

The sessions of one machine lie in one folder; those of another CPU model in a folder below, named with --corpus.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any, TypeAlias

from tabulate import tabulate

from pytest_opcost.costs import CostProfile, Environment, OpCost, with_ops
from pytest_opcost.families import DEFAULT_RATIO, family_of
from pytest_opcost.judge import SUSPICIOUS, Again, Reference, Rules, confirmed, judge, judge_pairs
from pytest_opcost.judge.disturbed import calm_rounds
from pytest_opcost.merging import REPETITIONS, averaged, merged, repetitions_of

CORPUS = Path(__file__).with_name("corpus")
LEAST_SHARE = 0.05
EFFECTS = (0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.10, 0.15, 0.20)
POWER_HEADS = ("test", "operator", "us", "share", *(f"+{effect:.0%}" for effect in EFFECTS))
FEWEST_PAIRS = 5
CONFIRM = 12

Session: TypeAlias = "dict[str, list[CostProfile]]"  # by test, a profile of each process


@dataclass(frozen=True)
class Corpus:
    """Recorded sessions: quiet and busy ones, and such of pairs, quiet and busy: see corpus.py."""

    quiet: list[Session]
    busy: list[Session]
    pairs: list[Session]
    busy_pairs: list[Session]

    @property
    def tests(self) -> list[str]:
        return list(self.quiet[0])


def load(folder: Path, device: str) -> Corpus:
    """The sessions in a folder that were recorded on that type of device."""
    found: dict[str, list[Session]] = {"quiet": [], "busy": [], "pairs": [], "busy_pairs": []}
    for path in sorted(folder.glob("*.json.gz")):
        session = json.loads(gzip.decompress(path.read_bytes()))
        if not session["machine"].startswith(device):
            continue
        tests: defaultdict[str, list[CostProfile]] = defaultdict(list)
        for process in session["processes"]:
            for test, cost in process["tests"].items():
                tests[test].append(profile(cost, device, session.get("card")))
        if session.get("paired", False):
            kind = "busy_pairs" if session["busy"] else "pairs"
        else:
            kind = "busy" if session["busy"] else "quiet"
        found[kind].append(dict(sorted(tests.items())))
    return Corpus(**found)


def profile(cost: dict[str, Any], device: str, card: str | None) -> CostProfile:
    """One process's costs of one test as the plugin has them."""
    on_device = device != "cpu"
    ops = tuple(
        OpCost(
            name=name,
            family=family_of(name),
            calls=1,
            self_host_us=1.0 if on_device else us,
            self_device_us=us if on_device else 0.0,
            share=0.0,
            forward=forward,
            samples=tuple(*samples),
        )
        for name, (us, forward, *samples) in cost["ops"].items()
    )
    details = (("card", card),) if card else ()
    environment = Environment(device, "", "", "", 1, "quiet", details=details)
    return with_ops(
        CostProfile(
            environment, 30, (), cost["wall_us"], 0.0, 0.0, load=cost["load"], pace_us=cost.get("pace_us", 0.0)
        ),
        ops,
    )


@dataclass(frozen=True)
class Slowed:
    """What got dearer, an operator or the upper side of a ratio, and its cost in microseconds and share of the step."""

    name: str
    operators: frozenset[str]
    us: float
    share: float

    def named(self, failed: list[str]) -> bool:
        """Whether any of what failed is it, or made it dearer; a ratio has several forms."""
        return any(name.partition(" ")[0] in {self.name, *self.operators} for name in failed)


def slowable(usual: CostProfile) -> list[Slowed]:
    """The operators of 5 % of a step or more, and the default ratio if it has one."""
    single = [Slowed(op.name, frozenset({op.name}), usual.cost_us(op), op.share) for op in usual.ops]
    side = usual.side(DEFAULT_RATIO.partition("/")[0])
    us = sum(map(usual.cost_us, side))
    ratio = Slowed(DEFAULT_RATIO, frozenset(op.name for op in side), us, us / usual.total_us)
    return [*(one for one in single if one.share >= LEAST_SHARE), *([ratio] if usual.ratio(DEFAULT_RATIO) else [])]


def dearer(cost: CostProfile, names: frozenset[str], by: float) -> CostProfile:
    """The same with some operators dearer by a part of their cost."""
    ops = tuple(
        replace(
            op,
            self_host_us=op.self_host_us * (1 + by),
            self_device_us=op.self_device_us * (1 + by),
            samples=tuple(sample * (1 + by) for sample in op.samples),
        )
        if op.name in names
        else op
        for op in cost.ops
    )
    return with_ops(cost, ops)


def reference(sessions: list[Session], test: str, rounds: int, draw: random.Random) -> Reference:
    """A baseline of so many rounds from each of some sessions."""
    made = []
    for session in sessions:
        processes = draw.sample(session[test], len(session[test]))
        made.append(calm_rounds(processes[:rounds], cycle(processes[rounds:] or processes).__next__, rounds))
    return Reference(merged([one for session in made for one in session]), tuple(map(len, made)))


@dataclass
class Run:
    """What became of one test: what failed, and how many fresh processes that took."""

    failed: list[str]
    processes: int


def run(baseline: Reference, head: list[CostProfile], tests: int) -> Run:
    """One test's check: the first process is the run itself, the others its fresh rounds."""
    rounds = iter(head[1:])
    taken = 0

    def fresh() -> CostProfile:
        nonlocal taken
        taken += 1
        return next(rounds)

    rules = Rules({DEFAULT_RATIO: None}, tests=tests)
    again = Again(lambda: head[0], fresh, min(CONFIRM, len(head) - 1))
    _, verdict = confirmed(head[0], lambda measured: judge(baseline, measured, rules), again)
    return Run([finding.op for finding in verdict.failing], taken)


def paired_run(
    session: list[CostProfile],
    effect: tuple[frozenset[str], float] | None,
    tests: int,
    draw: random.Random,
    *,
    in_turns: bool,
) -> Run:
    """One test judged against another commit: pairs in an order of their own, more of them as long as it takes."""
    pairs = [draw.sample(session[i : i + 2], 2) for i in range(0, len(session) - 1, 2)]
    draw.shuffle(pairs)
    first, later = zip(*(_first_and_later(pair, draw) for pair in pairs[:FEWEST_PAIRS]))
    pairs = [*first, *pairs[FEWEST_PAIRS:], *filter(None, later)][:CONFIRM]
    if effect is not None:
        pairs = [[base, dearer(head, *effect)] for base, head in pairs]
    rules, count, more = Rules({DEFAULT_RATIO: None}, tests=tests), FEWEST_PAIRS, 1
    while True:
        base, head = zip(*pairs[:count])
        verdict = judge_pairs(head, base, rules, in_turns=in_turns)
        if verdict.failing or verdict.score <= SUSPICIOUS / 2 or count >= len(pairs):
            return Run([finding.op for finding in verdict.failing], 2 * count)
        count, more = min(count + more, len(pairs)), 2 * more


def _first_and_later(pair: list[CostProfile], draw: random.Random) -> tuple[list[CostProfile], list[CostProfile]]:
    """Of the repetitions of a pair, as many as are made before anything is suspected, and those that are left."""
    ways = [_ways_to_split(one) for one in pair]
    chosen = draw.randrange(len(ways[0]))
    first, later = zip(*(of_one[chosen] for of_one in ways))
    return [*first], [one for one in later if one is not None]


#: By identity, beside the profile itself, lest another one take its number.
_WAYS: dict[int, tuple[CostProfile, list[tuple[CostProfile, CostProfile | None]]]] = {}


def _ways_to_split(one: CostProfile) -> list[tuple[CostProfile, CostProfile | None]]:
    """Any `REPETITIONS` in a row of what one process found, and the others; computed once, since it takes long."""
    if id(one) not in _WAYS:
        made = repetitions_of(one)
        begins = range(0, max(len(made) - REPETITIONS, 0) + 1, REPETITIONS)
        left = [made[:begin] + made[begin + REPETITIONS :] for begin in begins]
        ways = [
            (averaged(made[begin : begin + REPETITIONS]), averaged(rest) if rest else None)
            for begin, rest in zip(begins, left)
        ]
        _WAYS[id(one)] = one, ways
    return _WAYS[id(one)][1]


def paired(
    sessions: list[Session], clean: int, slowed: int, draw: random.Random, *, in_turns: bool, any_two: bool
) -> None:
    """Print how many runs against another commit fail, clean ones and such with an operator made dearer; of pairs as
    they were recorded, or of `any_two` processes of a session.
    """
    tests, alarms = list(sessions[0]), 0
    failed: Counter[str] = Counter()

    def failing(processes: list[CostProfile], effect: tuple[frozenset[str], float] | None) -> list[str]:
        if any_two:
            processes = draw.sample(processes, len(processes))
        return paired_run(processes, effect, len(tests), draw, in_turns=in_turns).failed

    for _ in range(clean):
        session = draw.choice(sessions)
        wrong = [f"{test} {name}" for test in tests for name in failing(session[test], None)]
        failed.update(wrong)
        alarms += bool(wrong)
    told_rate(alarms, clean, len(tests))
    told_names(failed)

    def caught(test: str, one: Slowed, effect: float) -> bool:
        return one.named(failing(draw.choice(sessions)[test], (one.operators, effect)))

    if slowed:
        print_power(sessions, slowed, caught)


def told_rate(alarms: int, count: int, tests: int) -> None:
    low, high = bounds(alarms, count)
    print(
        f"{alarms} of {count} clean runs of {tests} tests failed: {1000 * alarms / count:.1f} in 1,000 "
        f"(95 %: {1000 * low:.1f} to {1000 * high:.1f})"
    )


def told_names(failed: Counter[str]) -> None:
    for name, times in failed.most_common(5):
        print(f"    {times} x {name}")


def print_power(sessions: list[Session], count: int, caught: Callable[[str, Slowed, float], bool]) -> None:
    """Print how often each operator that matters, and the ratio, is caught when it got dearer, in % of `count` runs."""
    rows = []
    for test in sessions[0]:
        usual = merged([one for session in sessions for one in session[test]])
        for one in slowable(usual):
            parts = [sum(caught(test, one, effect) for _ in range(count)) / count for effect in EFFECTS]
            name = one.name.removeprefix("aten::")
            rows.append((test, name, round(one.us), f"{one.share:.0%}", *(round(100 * part) for part in parts)))
    print(tabulate(rows, POWER_HEADS))


def clean_runs(
    corpus: Corpus, heads: list[Session], sessions: int, rounds: int, count: int, draw: random.Random
) -> None:
    """Print how many of so many clean runs of all tests fail, and what they cost."""
    failed: Counter[str] = Counter()
    alarms = suspected = processes = 0
    for _ in range(count):
        head = draw.choice(heads)
        others = [session for session in corpus.quiet if session is not head]
        chosen = draw.sample(others, min(sessions, len(others)))
        order = draw.sample(range(len(head[corpus.tests[0]])), len(head[corpus.tests[0]]))
        wrong = False
        for test in corpus.tests:
            one = run(reference(chosen, test, rounds, draw), [head[test][i] for i in order], len(corpus.tests))
            suspected += one.processes > 0
            processes += one.processes
            wrong |= bool(one.failed)
            failed.update(f"{test} {name}" for name in one.failed)
        alarms += wrong
    told_rate(alarms, count, len(corpus.tests))
    print(f"suspicions {suspected / count:.2f} a run, fresh processes {processes / count:.1f} a run")
    told_names(failed)


def power(corpus: Corpus, heads: list[Session], sessions: int, rounds: int, count: int, draw: random.Random) -> None:
    """Print how often an operator that got dearer is caught and named, in %."""

    def caught(test: str, slowed: Slowed, effect: float) -> bool:
        head = draw.choice(heads)
        others = [session for session in corpus.quiet if session is not head]
        baseline = reference(draw.sample(others, min(sessions, len(others))), test, rounds, draw)
        slower = [dearer(one, slowed.operators, effect) for one in draw.sample(head[test], len(head[test]))]
        return slowed.named(run(baseline, slower, len(corpus.tests)).failed)

    print_power(corpus.quiet, count, caught)


def bounds(hits: int, count: int) -> tuple[float, float]:
    """The 95 % confidence bounds of a rate."""
    from scipy.stats import binomtest

    found = binomtest(hits, count).proportion_ci(0.95, "exact")
    return found.low, found.high


def main() -> None:
    parser = argparse.ArgumentParser(description="How often clean runs fail, and how small a slowdown is caught.")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder of recorded sessions")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, ... (default: cpu)")
    parser.add_argument("--rounds", type=int, default=5, help="fresh processes of a session's recording (default: 5)")
    parser.add_argument("--sessions", type=int, default=3, help="recorded sessions of a baseline (default: 3)")
    parser.add_argument("-n", type=int, default=200, help="clean runs (default: 200)")
    parser.add_argument(
        "--power", type=int, default=20, metavar="N", help="runs of each slowdown (default: 20; 0: none)"
    )
    parser.add_argument("--paired", action="store_true", help="judge against another commit, in pairs")
    parser.add_argument(
        "--any-two", action="store_true", help="with --paired: any two processes of a session are a pair"
    )
    options = parser.parse_args()
    corpus, draw = load(options.corpus, options.device), random.Random(1)
    if options.paired:
        on_host = options.device == "cpu"
        for label, pairs, others in (
            ("quiet", corpus.pairs, corpus.quiet),
            ("busy", corpus.busy_pairs, corpus.busy),
        ):
            if sessions := pairs or others:
                counts = [len(next(iter(session.values()))) // 2 for session in sessions]
                in_turns = bool(pairs) and on_host
                how = "that measured in turns" if in_turns else "one after the other"
                print(f"\n{label}: {len(sessions)} sessions of {min(counts)} to {max(counts)} pairs {how}")
                paired(sessions, options.n, options.power, draw, in_turns=in_turns, any_two=options.any_two)
        return
    print(
        f"{len(corpus.quiet)} quiet and {len(corpus.busy)} busy sessions; "
        f"baselines of {options.sessions} x {options.rounds} rounds"
    )
    for label, heads in (("quiet", corpus.quiet), ("busy", corpus.busy)):
        if heads:
            print(f"\n{label}:")
            clean_runs(corpus, heads, options.sessions, options.rounds, options.n, draw)
            if options.power:
                power(corpus, heads, options.sessions, options.rounds, options.power, draw)


if __name__ == "__main__":
    main()
