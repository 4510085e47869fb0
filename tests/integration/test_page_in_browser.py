"""The page in a real browser: read from disk, sorted, followed, switched; nothing fails and nothing is fetched."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

UNIT = Path(__file__).parents[1] / "unit"


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a reader found in the page of 24 made-up configurations."""
    for module in ("jinja2", "matplotlib", "playwright"):
        pytest.importorskip(module)
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium on the path: apt-get install chromium")
    folder = tmp_path_factory.mktemp("page")
    program = (
        f"import sys; sys.path.insert(0, {str(UNIT)!r})\n"
        "from pathlib import Path\nfrom made_up import many\nfrom pytest_opcost.report.page import write_page\n"
        f"write_page(Path({str(folder)!r}), many(24))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    reading = [sys.executable, str(Path(__file__).with_name("browsing.py")), str(folder), chromium]
    done = subprocess.run(reading, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_nothing_fails_and_nothing_is_fetched(found: dict[str, Any]) -> None:
    assert (found["title"], found["complaints"], found["network"]) == ("Operator costs", [], [])


def test_failing_tests_come_first_until_the_table_is_sorted(found: dict[str, Any]) -> None:
    assert found["verdicts"][:3] == ["drifted", "drifted", "inconclusive"]
    falling, rising = found["steps"]
    assert falling == sorted(falling, reverse=True) != rising == sorted(rising)
    assert found["sorted"] == ["descending", "ascending"]
    assert found["sorted others"] == 1


def test_a_few_letters_find_a_test(found: dict[str, Any]) -> None:
    everything, cuda, cpu, nothing = found["found"]
    assert (everything[0], everything[2], nothing) == (24, "", [0, 0, "0 of 24"])
    assert 0 < cuda[0] == int(cuda[2].partition(" of ")[0]) < 24
    assert 0 < cpu[0] < 24
    assert cuda[1] == min(cuda[0], everything[1])


def test_a_link_leads_to_an_open_section_and_back(found: dict[str, Any]) -> None:
    assert (found["section"], found["open"]) == ("cuda, batch 4", True)
    assert found["back"] == "index.html"


def test_the_views_of_the_two_clocks_switch_by_mouse_and_by_keyboard(found: dict[str, Any]) -> None:
    assert found["views"] == [[True, False], [False, True], [True, False]]
    assert found["focus"] == "Device view"
    assert found["kernels"]


def test_the_trace_is_there_to_download(found: dict[str, Any]) -> None:
    assert found["trace"]


def test_the_theme_is_changed_remembered_and_left_off_paper(found: dict[str, Any]) -> None:
    light, dark, again, paper = found["backgrounds"]
    assert light == paper == "rgb(255, 255, 255)"
    assert dark == again != light
    assert found["closed on paper"] == 0


def test_no_page_is_wider_than_its_screen(found: dict[str, Any]) -> None:
    assert len(found["wider"]) == 6
    assert {name: by for name, by in found["wider"].items() if by > 0} == {}


def test_the_first_stop_of_the_keyboard_skips_to_the_content(found: dict[str, Any]) -> None:
    assert found["first stop"] == "Skip to the content"
