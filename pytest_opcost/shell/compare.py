"""`opcost compare A B`: what got dearer between two sets of figures, by the judge that the tests have."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.judge import Outcome
from pytest_opcost.judge.reference import FEWEST_ROUNDS
from pytest_opcost.report.wrapping import wrapped
from pytest_opcost.shell.command import DRIFTED, MISUSED, Command
from pytest_opcost.shell.compared import as_data, as_lines
from pytest_opcost.shell.comparing import compared
from pytest_opcost.shell.known import FileError
from pytest_opcost.shell.printing import complain_of, show_json, show_lines
from pytest_opcost.shell.rules import declare_rules, rules_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from pytest_opcost.results import CheckResult
    from pytest_opcost.shell.comparing import Comparisons
    from pytest_opcost.shell.known import Known
    from pytest_opcost.shell.pairs import Pairs

_MOST_NAMES = 5


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "before", metavar="A", type=Path, help="a baseline, a file of results, or a folder of baselines"
    )
    parser.add_argument("after", metavar="B", type=Path, help="what is judged against it: any of these, too")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the tests that passed, and all names")
    declare_rules(parser)


def _run(given: argparse.Namespace) -> int:
    all_of_it = compared(given.before, given.after, rules_of(given))
    pairs, results = all_of_it.pairs, all_of_it.results
    if not any(result.compared for result in results):
        complain_of(all_of_it.damaged)
        raise FileError(_nothing(given, results))
    if given.json:
        show_json(_document(given, all_of_it))
    else:
        show_lines(_lines(given, pairs, results))
    complain_of(all_of_it.damaged)
    if any(result.verdict.failing for result in results):
        return DRIFTED
    return MISUSED if all_of_it.damaged else 0


def _lines(given: argparse.Namespace, pairs: Pairs, results: Sequence[CheckResult]) -> Iterator[str]:
    alone = len(results) == 1
    for (before, after), result in zip(pairs.pairs, results):
        # Of many tests those are worth reading that did not just pass.
        if alone or given.verbose or result.verdict.outcome is not Outcome.PASSED or result.verdict.findings:
            yield from as_lines(before, after, result, table=alone or given.verbose)
    for side, left in ((given.before, pairs.only_before), (given.after, pairs.only_after)):
        if left:
            shown = left if given.verbose else left[:_MOST_NAMES]
            yield from wrapped(f"only in {side}:", "  ")
            for one in shown:
                yield from wrapped(f"  {one.subject.title}", "    ")
            if len(left) > len(shown):
                yield f"  and {len(left) - len(shown)} more (-v names them)"
    if few := sum(sum(after.sessions) < FEWEST_ROUNDS for _, after in pairs.pairs):
        whose, them = ("1 test was", "it") if few == 1 else (f"{few} tests were", "them")
        yield f"{whose} judged by fewer than {FEWEST_ROUNDS} rounds: nothing confirms {them}"
    counts = Counter(result.verdict.outcome for result in results)
    yield "opcost: " + ", ".join(f"{counts[outcome]} {outcome.words}" for outcome in Outcome if counts[outcome])


def _document(given: argparse.Namespace, all_of_it: Comparisons) -> dict[str, object]:
    def names(left: Sequence[Known]) -> list[dict[str, object]]:
        return [{"test": one.subject.test, "check": one.subject.check, "machine": one.machine} for one in left]

    pairs, results = all_of_it.pairs, all_of_it.results
    return {
        "a": str(given.before),
        "b": str(given.after),
        "drifted": any(result.verdict.failing for result in results),
        "tests": [as_data(*pair, result) for pair, result in zip(pairs.pairs, results)],
        "only_in_a": names(pairs.only_before),
        "only_in_b": names(pairs.only_after),
        "damaged": list(all_of_it.damaged),
    }


def _nothing(given: argparse.Namespace, results: Sequence[CheckResult]) -> str:
    why = results[0].verdict.findings[0].message if results else "they have no test in common"
    return (
        f"{given.before} and {given.after}: nothing could be compared: {why}.\n"
        "Expected: figures of the same tests, from machines that do the same work.\n"
        "What each of the two holds: opcost show FILE"
    )


COMMAND = Command(
    name="compare",
    summary="judge B's figures against A's, and say which operator got dearer",
    description="""\
Judge the figures of B against those of A, by the judge that the tests have:
what is exact first (operators, calls, shapes, FLOPs, kernels), then ratios and
times beyond noise. Tests are matched by their ids; two files of one test each
are compared whatever they are of. A result that was measured once is judged
by that, as with --opcost-confirm=0: nothing can be measured again here.""",
    examples="""\
  opcost compare old.json new.json
  opcost compare baselines/cpu-x/test_a.py-test_train-1a2b3c4d.yaml new.json
  opcost compare ../main/baselines baselines --fail-on=drift""",
    declare=_declare,
    run=_run,
)
