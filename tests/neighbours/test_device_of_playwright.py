"""`--device` is pytest-playwright's where that is there; opcost leaves it alone, and says so where it matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .beside import Beside, installed

if TYPE_CHECKING:
    from integration.project import Project


@pytest.fixture(params=[True, False], ids=["before", "behind"])
def playwright(request: pytest.FixtureRequest, beside: Beside) -> Beside:
    beside.plugins("pytest-playwright", first=request.param)
    beside.suite.write("test_page.py", "def test_page(device):\n    assert device in (None, 'iPhone 13')\n")
    return beside


def _machines(suite: Project) -> set[str]:
    return {path.parent.name.partition("-")[0] for path in suite.files()}


def test_its_option_reaches_its_fixture(playwright: Beside) -> None:
    playwright.run("--device=iPhone 13").assert_outcomes(passed=1, skipped=1)
    playwright.run("--device", "iPhone 13").assert_outcomes(passed=1, skipped=1)


def test_not_given_it_is_in_nobodys_way(playwright: Beside) -> None:
    playwright.run("--opcost", "--opcost-rounds=0").assert_outcomes(passed=2)
    assert _machines(playwright.suite) == {"cpu"}


def test_given_with_opcost_it_is_a_usage_error_that_says_so(playwright: Beside) -> None:
    result = playwright.run("--opcost", "--device=cuda")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert [line for line in result.errlines if line] == [
        "ERROR: --device=cuda belongs to another plugin or conftest here, so opcost does not see it.",
        "Run: pytest --opcost --opcost-device=cuda",
    ]


def test_the_long_name_is_ours_beside_it(playwright: Beside) -> None:
    result = playwright.run("--opcost", "--opcost-rounds=0", "--device=iPhone 13", "--opcost-device=cuda")

    result.assert_outcomes(passed=2)
    assert _machines(playwright.suite) == {"cuda"}


def test_help_names_its_owner_alone(playwright: Beside) -> None:
    text = playwright.run("--help").stdout.str()

    assert "--device=DEVICE" in text
    assert "same as --opcost-device" not in text
    assert "--opcost-device=DEVICE" in text


def test_rounds_leave_its_artifacts_alone(playwright: Beside) -> None:
    """It empties its folder at the start of every session, and rounds are sessions within the run's own."""
    (playwright.path / "test_page.py").unlink()
    playwright.record()
    playwright.drifts()
    playwright.suite.write(
        "test_model.py",
        "from pathlib import Path\n\n\ndef test_model(opcost, step, output_path):\n    if not Path('begun').exists():\n"
        "        Path('test-results').mkdir()\n        Path('test-results/trace.zip').touch()\n"
        "    Path('begun').touch()\n    opcost.check(step)\n",
    )

    result = playwright.run("--opcost")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*DriftError*measured 6 times*"])
    assert (playwright.path / "test-results" / "trace.zip").exists()


def test_without_it_the_short_name_is_ours(beside: Beside) -> None:
    installed(["pytest-playwright"])
    beside.run("--opcost", "--opcost-rounds=0", "--device=cuda").assert_outcomes(passed=1)
    assert _machines(beside.suite) == {"cuda"}
