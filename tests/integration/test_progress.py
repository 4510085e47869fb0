"""The bar of a training: on a terminal, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .terminals import on_a_terminal

pytest.importorskip("tqdm")

if TYPE_CHECKING:
    from .project import Project

_TEST = """
import threading
import time

import pytest
from pytest_opcost.progress import training_bar


def test_trains(request, capfd):
    print("captured")
    with training_bar(request.config, "LeNet cpu batch 16", 20) as move:
        for step in range(1, 21):
            if step == 20:
                time.sleep(0.2)  # a bar is not drawn more than ten times a second
            move(step, 1 + step // 11, 2.5 / step, step / 20)
    assert capfd.readouterr() == ("captured\\n", "")
    assert threading.active_count() == 1
"""


@pytest.mark.parametrize("options", [(), ("-s",), ("--capture=sys",)], ids=["captured", "-s", "sys"])
def test_a_terminal_shows_a_bar_and_clears_it(project: Project, options: tuple[str, ...]) -> None:
    project.write("test_model.py", _TEST)

    text = on_a_terminal(project, *options)

    drawn = [part for part in text.split("\r") if part.startswith("LeNet cpu batch 16")]
    assert drawn
    assert [part for part in drawn if len(part) > 80] == []
    assert "epoch 2, loss 0.125, accuracy 100.0 %" in drawn[-1]
    assert f"\r{' ' * len(drawn[-1])}\r" in text, "the bar was left on the screen"
    assert "1 passed" in text


@pytest.mark.parametrize("options", [("-q",), ("-p", "no:terminal")], ids=["quiet", "without a reporter"])
def test_a_terminal_shows_no_bar_where_little_was_asked_for(project: Project, options: tuple[str, ...]) -> None:
    project.write("test_model.py", _TEST)

    assert "LeNet" not in on_a_terminal(project, *options)


@pytest.mark.parametrize("options", [(), ("-s",)], ids=["captured", "-s"])
def test_nothing_is_drawn_where_the_output_is_no_terminal(project: Project, options: tuple[str, ...]) -> None:
    project.write("test_model.py", _TEST)

    result = project.pytester.runpytest_subprocess(*options)

    result.assert_outcomes(passed=1)
    assert "LeNet" not in result.stdout.str() + result.stderr.str()
