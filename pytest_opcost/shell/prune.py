"""`opcost prune`: baselines whose test is gone, found without running pytest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.report.wrapping import wrapped
from pytest_opcost.shell.command import MISUSED, Command
from pytest_opcost.shell.known import FileError
from pytest_opcost.shell.orphans import Found, State, look
from pytest_opcost.shell.printing import complain, show_json, show_lines
from pytest_opcost.storage import stored_tests

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_COMPLETE = "pytest --opcost-prune-baselines"


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--baselines", metavar="DIR", type=Path, default=Path("baselines"), help="their folder (default: baselines)"
    )
    parser.add_argument(
        "--root", metavar="DIR", type=Path,
        help="what the tests' ids are relative to: pytest's rootdir (default: the folder that the baselines' is in)",
    )  # fmt: skip
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be deleted")


def _run(given: argparse.Namespace) -> int:
    root = given.root or given.baselines.absolute().parent
    if not given.baselines.is_dir():
        raise FileError(f"{given.baselines}: no such folder.\nExpected: the folder of the baselines, --baselines=DIR.")
    tests = dict(stored_tests(given.baselines))
    found = {path: look(root, test) for path, test in tests.items()}
    if tests and not any((root / test.partition("::")[0]).exists() for test in tests.values()):
        raise FileError(
            f"{root}: none of the {len(tests)} baselines' tests has its file below this folder.\n"
            "Expected: pytest's rootdir, which their ids are relative to. Nothing was deleted.\n"
            "Name it: opcost prune --root DIR"
        )
    gone = {path: one for path, one in found.items() if one.state is State.GONE}
    failed = {} if given.dry_run else {path: problem for path in gone if (problem := _deleted(path))}
    found = {path: one for path, one in found.items() if path not in failed}
    if given.json:
        show_json(_document(tests, found, deleted=not given.dry_run))
    else:
        show_lines(_lines(given, tests, found))
    for problem in failed.values():
        complain(problem)
    return MISUSED if failed else 0


def _deleted(path: Path) -> str:
    """Delete a file; what went wrong, empty where nothing did."""
    try:
        path.unlink()
    except OSError as error:
        return f"{path}: could not be deleted: {error.strerror or error}."
    return ""


def _lines(given: argparse.Namespace, tests: dict[Path, str], found: dict[Path, Found]) -> Iterator[str]:
    by_state = {state: [path for path, one in found.items() if one.state is state] for state in State}
    for path in by_state[State.GONE]:
        done = "would delete" if given.dry_run else "deleted"
        yield from wrapped(f"{done} that of {tests[path]}: {found[path].why}", "    ")
        yield f"    {path}"
    for path in by_state[State.UNKNOWN]:
        yield from wrapped(f"left alone that of {tests[path]}: {found[path].why}", "    ")
        yield f"    {path}"
    gone, unknown, there = (len(by_state[state]) for state in (State.GONE, State.UNKNOWN, State.THERE))
    yield from wrapped(f"{gone} stale, {there} with a test of that name, {unknown} not known", "  ")
    if there or unknown:
        yield from wrapped(f"Parameters that no longer exist only pytest knows, see also: {_COMPLETE}", "  ")


def _document(tests: dict[Path, str], found: dict[Path, Found], *, deleted: bool) -> dict[str, object]:
    rows = [
        {"path": str(path), "test": tests[path], "state": one.state.value, "why": one.why}
        for path, one in found.items()
    ]
    return {"deleted": deleted, "baselines": rows}


COMMAND = Command(
    name="prune",
    summary="delete baselines whose test no longer exists",
    description=f"""\
Delete baselines whose test's file is gone, or whose file has nothing of the
test's name any more. Nothing is run or imported for that, so it takes a moment
and leaves alone what it cannot be sure of: inherited tests, star imports, and
single parameters. What pytest collects tells those, too:
{_COMPLETE}""",
    examples="""\
  opcost prune --dry-run
  opcost prune --baselines tests/baselines --root .""",
    declare=_declare,
    run=_run,
)
