"""`--opcost-tensorboard` and `--opcost-markdown`: what a run of pytest writes, and what it says where it cannot."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from pytest_opcost.workloads.idx import FILE_NAMES
from pytest_opcost.workloads.source import SAMPLE_FOLDER

from .project import summary, told

# Imported here, as a whole: pytester forgets what is first imported during a test, and some of it cannot come twice.
pytest.importorskip("tensorboard")
pytest.importorskip("matplotlib")
import matplotlib.backends.backend_agg
import matplotlib.figure  # noqa: F401
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from pytest_opcost.report import markdown, tensorboard  # noqa: F401

if TYPE_CHECKING:
    from pathlib import Path

    from .project import Project

TENSORBOARD, MARKDOWN = "--opcost-tensorboard=tb", "--opcost-markdown=out/report.md"


def _read(folder: Path) -> EventAccumulator:
    return EventAccumulator(str(folder)).Reload()


def test_two_runs_are_two_points_on_one_curve(project: Project) -> None:
    project.record(TENSORBOARD)
    project.lenet(gelu=[1600.0, 3])
    project.run("--opcost", "--opcost-confirm=0", TENSORBOARD)

    curve = _read(project.path / "tb/costs/test_model.py/test_model/cpu-chip-a").Scalars("operator host us/aten::gelu")

    assert [(point.step, point.value) for point in curve] == [(1, 1500.0), (2, 1600.0)]


def test_the_report_is_written_beside_its_pictures(project: Project) -> None:
    project.record(MARKDOWN)

    text = (project.path / "out/report.md").read_text("utf-8")

    assert "| `test_model.py::test_model` | recorded |" in text
    (picture,) = (project.path / "out/report-pictures").iterdir()
    assert f"](report-pictures/{picture.name})" in text


def test_the_summary_says_where_each_report_is(project: Project) -> None:
    project.record()

    result = project.run(
        "--opcost", "--opcost-json=out.json", "--opcost-html=page", MARKDOWN, "--opcost-tensorboard=the curves"
    )
    project.gets_in_the_way("taken")
    failed = project.run("--opcost", "--opcost-html=taken", "--opcost-json=taken/out.json", MARKDOWN)

    assert summary(result)[-4:] == [
        "results: out.json",
        "page: page/index.html",
        "report: out/report.md",
        "TensorBoard: tensorboard --logdir 'the curves'",
    ]
    # What was not written is not pointed at.
    assert [line for line in summary(failed) if line.startswith(("results:", "page:", "report:"))] == [
        "report: out/report.md"
    ]


def test_the_data_set_s_first_images_are_shown(project: Project) -> None:
    project.write("test_model.py", "def test_model(opcost, step, mnist):\n    opcost.check(step)\n")
    project.write("conftest.py", _MNIST_OF_ITS_OWN + (project.path / "conftest.py").read_text("utf-8"))
    project.record("--opcost-mnist=sample", TENSORBOARD)

    (grid,) = _read(project.path / "tb/data").Images("training images")

    assert (grid.width, grid.height) == (8 * 30 + 2, 8 * 30 + 2)


_MNIST_OF_ITS_OWN = "import pytest\n\n\n@pytest.fixture\ndef mnist():\n    pass\n\n\n"


def test_images_that_cannot_be_read_are_said_and_all_else_is_written(project: Project) -> None:
    folder = project.path / "images"
    folder.mkdir()
    for name in FILE_NAMES:
        (folder / name).write_bytes(gzip.decompress((SAMPLE_FOLDER / f"{name}.gz").read_bytes()))
    project.write(
        "test_model.py",
        "import pathlib\n\n\ndef test_model(opcost, step, mnist):\n    opcost.check(step)\n"
        f"    pathlib.Path('images/{FILE_NAMES[0]}').write_bytes(b'torn')\n",
    )
    project.write("conftest.py", _MNIST_OF_ITS_OWN + (project.path / "conftest.py").read_text("utf-8"))

    result = project.run("--opcost-update-baselines", "--opcost-mnist=images", TENSORBOARD)

    assert f"ERROR: images/{FILE_NAMES[0]} is damaged or cannot be read" in told(result)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert _read(project.path / "tb/costs/test_model.py/test_model/cpu-chip-a").Scalars("step us/wall")
    assert not (project.path / "tb/data").exists()


def test_what_cannot_be_written_is_said_and_the_other_reports_are_written(project: Project) -> None:
    project.gets_in_the_way("tb", "no")

    result = project.run(
        "--opcost-update-baselines", TENSORBOARD, "--opcost-markdown=no/report.md", "--opcost-json=all.json"
    )

    lines = " ".join(" ".join(summary(result)).split())
    assert f"ERROR: {project.path / 'tb'}: the report could not be written: " in lines
    assert "Choose another place with --opcost-tensorboard=DIR." in lines
    assert f"ERROR: {project.path / 'no' / 'report-pictures'}" in lines
    assert (project.path / "all.json").exists()
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_a_damaged_event_file_is_named(project: Project) -> None:
    project.record(TENSORBOARD)
    folder = project.path / "tb/costs/test_model.py/test_model/cpu-chip-a"
    (old,) = folder.iterdir()
    old.write_bytes(old.read_bytes()[:-1])

    result = project.run("--opcost", TENSORBOARD)

    assert "TensorBoard cannot read 1 event file of older runs" in told(result)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert len(list(folder.iterdir())) == 2
