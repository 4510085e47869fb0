"""Words for what went wrong in a round, cut to what a person reads."""

from __future__ import annotations

import re
import signal

import pytest

_MOST_LINES, _MOST_BYTES = 20, 20_000
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_CRASH = "Fatal Python error: "
_PHASES = {"setup": "an error in its setup", "call": "failed", "teardown": "an error in its teardown"}

_STATUS: dict[int, str] = {
    pytest.ExitCode.INTERRUPTED: "was interrupted",
    pytest.ExitCode.INTERNAL_ERROR: "ended with an internal error of pytest or a plugin",
    pytest.ExitCode.USAGE_ERROR: "could not use its options",
}


def failure_of(report: pytest.CollectReport | pytest.TestReport) -> str:
    """Why a test (or a file) was not measured as it should be: the end of what pytest says of it; empty if it was."""
    when = report.when if hasattr(report, "when") else "collect"
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
    if hasattr(report, "wasxfail"):
        return f"expected to fail ({report.wasxfail or 'no reason given'}), and did:\n{end_of(text)}" * report.skipped
    # A check never fails here, so a test that is expected to fail because its costs drift passes.
    if report.passed or text.startswith("[XPASS(strict)]"):
        return ""
    if report.skipped:
        return f"skipped: {text.removeprefix('Skipped: ')}"
    return f"{_PHASES.get(when, 'could not be collected')}:\n{end_of(text)}"


def end_of(text: str) -> str:
    """The last lines of a text, without colours and empty lines at its end."""
    lines = _COLOURS.sub("", text).rstrip().splitlines()
    return "\n".join(["[...]"] * (len(lines) > _MOST_LINES) + lines[-_MOST_LINES:])


def end_of_output(output: bytes) -> str:
    """The last lines of what a process printed, indented below a line that says so; a short note if there are none."""
    text = output[-_MOST_BYTES:].decode("utf-8", "replace")
    # Python's own words on a crash have what matters first: the innermost call, far above pytest's.
    crash, found, trace = text.rpartition(_CRASH)
    told = _CRASH + "\n".join(trace.splitlines()[: _MOST_LINES // 2]) if found else end_of(crash + trace)
    if not told:
        return "It printed nothing."
    return "The end of what it printed:\n" + "\n".join(f"  {line}".rstrip() for line in told.splitlines())


def ending_of(returncode: int | None, timeout: float, status: int | None = None) -> str:
    """How a process ended, in words: it had to be stopped (None), and what pytest's own status was, if it had one."""
    if status is not None:
        return _STATUS.get(status, f"was ended by pytest.exit, with exit status {status}")
    if returncode is None:
        return f"took longer than {timeout:g} s and was stopped"
    if returncode >= 0:
        return f"ended on its own, with exit status {returncode}"
    try:
        name = signal.Signals(-returncode).name
    except ValueError:
        name = f"signal {-returncode}"
    likely = ", as the kernel does where memory runs out" if name == "SIGKILL" else ""
    return f"was killed by {name}{likely}"
