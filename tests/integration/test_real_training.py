"""The fixture that trains, on a handful of made-up images, as a user's test has it."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_opcost.declared import AS_ASKED

from .project import INI, told

pytest.importorskip("torch")
pytest.importorskip("torchvision")

from pytest_opcost.workloads.training import window  # only where there is a torch

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("warm_torch")

_TEST = """
def test_learns(lenet_training):
    assert lenet_training.epochs == len(lenet_training.test_losses)
"""
_OPTIONS = ("--opcost", "--opcost-mnist=mnist", "--opcost-json=out.json")


def _idx(*sizes: int, content: bytes) -> bytes:
    return struct.pack(f">{1 + len(sizes)}I", 0x800 + len(sizes), *sizes) + content


def _write_mnist(folder: Path, train: int = 30, test: int = 10) -> None:
    folder.mkdir()
    for part, count in (("train", train), ("t10k", test)):
        labels = bytes(number % 10 for number in range(count))
        pixels = b"".join(bytes(784 - 28) + bytes([20 * label]) * 28 for label in labels)
        (folder / f"{part}-images-idx3-ubyte").write_bytes(_idx(count, 28, 28, content=pixels))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(_idx(count, content=labels))


@pytest.fixture
def lab(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with a test that trains; the profiles that are taken meanwhile are of two steps."""
    measure = window.measure
    monkeypatch.setattr(window, "measure", lambda step, plan: measure(step, replace(plan, warmup=0, steps=2)))
    pytester.makeini(INI)
    pytester.makepyfile(test_lab=_TEST)
    _write_mnist(pytester.path / "mnist")
    return pytester


def _trainings(lab: pytest.Pytester) -> list[dict[str, Any]]:
    trainings: list[dict[str, Any]] = json.loads((lab.path / "out.json").read_text("utf-8"))["trainings"]
    return trainings


def test_it_trains_at_every_batch_size_and_the_reports_know(lab: pytest.Pytester) -> None:
    result = lab.runpytest_inprocess(*_OPTIONS, "--opcost-epochs=2", "--opcost-batch-size=8,16", "--opcost-threads=2")

    result.assert_outcomes(passed=2)
    assert result.ret == 0
    assert "opcost: MNIST: 30 + 10 images from" in told(result)
    eight, sixteen = _trainings(lab)
    assert [eight["test"], sixteen["test"]] == [f"test_lab.py::test_learns[cpu-{size}]" for size in (8, 16)]
    assert (eight["epochs"], eight["batch_size"], eight["images"], len(eight["steps"])) == (2, 8, 30, 8)
    assert eight["environment"]["threads"] == 2
    assert [when for when, _ in eight["costs"]] == ["start", "middle", "end"]
    assert not eight["interrupted"]


def test_the_default_is_the_lab_s_fourteen_epochs(lab: pytest.Pytester) -> None:
    lab.runpytest_inprocess(*_OPTIONS, "--opcost-batch-size=16").assert_outcomes(passed=1)

    (training,) = _trainings(lab)
    assert len(training["test_losses"]) == 14


def test_without_opcost_it_is_skipped_with_the_reason(lab: pytest.Pytester) -> None:
    result = lab.runpytest_inprocess("-rs", "--opcost-batch-size=8")

    result.assert_outcomes(skipped=1)
    assert "needs --opcost" in told(result)


def test_a_round_of_another_run_does_not_train(lab: pytest.Pytester) -> None:
    class Round:
        @pytest.hookimpl(tryfirst=True)
        def pytest_configure(self, config: pytest.Config) -> None:
            config.stash[AS_ASKED] = lambda found: replace(found, enabled=True, only_measure=True, mnist="mnist")

    result = lab.inline_run("--opcost-batch-size=8", plugins=[Round()])

    (report,) = (call.report for call in result.getcalls("pytest_runtest_logreport") if call.report.skipped)
    assert "this process only measures checks again" in report.longrepr[2]


def test_ctrl_c_in_the_midst_of_it_keeps_what_was_learned(lab: pytest.Pytester) -> None:
    lab.makeconftest(
        """
        from pytest_opcost.workloads.training import course

        evaluate = course.evaluate

        def interrupt(*args):
            course.evaluate = evaluate
            raise KeyboardInterrupt

        course.evaluate = interrupt
        """
    )

    result = lab.runpytest_inprocess(*_OPTIONS, "--opcost-epochs=1", "--opcost-batch-size=8", no_reraise_ctrlc=True)

    assert result.ret == pytest.ExitCode.INTERRUPTED
    (training,) = _trainings(lab)
    assert training["interrupted"]
    assert training["steps"] == [1, 2, 3, 4]
    assert training["test_losses"] == []
    assert "interrupted test_lab.py::test_learns[cpu-8]" in told(result)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        (
            "train-images-idx3-ubyte",
            b"",
            "is damaged or cannot be read: found magic number nothing, expected 00000803.",
        ),
        ("train-labels-idx1-ubyte", _idx(29, content=bytes(29)), "found 29 labels for the 30 images beside it."),
        (
            "t10k-images-idx3-ubyte",
            _idx(10, 28, 28, content=bytes(99)),
            "found 115 bytes (uncompressed), expected 7,856",
        ),
    ],
    ids=["empty", "labels of others", "truncated"],
)
def test_damaged_data_is_told_with_the_file_and_the_mend(
    lab: pytest.Pytester, name: str, content: bytes, reason: str
) -> None:
    (lab.path / "mnist" / name).write_bytes(content)

    result = lab.runpytest_inprocess(*_OPTIONS, "--opcost-batch-size=8")

    assert result.ret != 0
    text = " ".join((result.stdout.str() + result.stderr.str()).split())
    assert f"mnist/{name}" in text
    assert reason in text
    assert "Fetch the file again" in text
    assert "Traceback" not in text
    assert "During handling" not in text
    assert "nothing was judged" not in text  # no test was there that could be


def test_other_results_are_kept_where_the_data_is_damaged(lab: pytest.Pytester) -> None:
    (lab.path / "mnist" / "train-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01")
    lab.makepyfile(
        test_other="import torch\n\n\ndef test_other(opcost):\n    opcost.check(lambda: torch.ones(9) + 1)\n"
    )

    result = lab.runpytest_inprocess(*_OPTIONS, "--opcost-batch-size=8", "--opcost-rounds=0", "--opcost-steps=2")

    result.assert_outcomes(errors=1, passed=1)
    document = json.loads((lab.path / "out.json").read_text("utf-8"))
    assert [test["test"] for test in document["tests"]] == ["test_other.py::test_other"]
    assert document["trainings"] == []
