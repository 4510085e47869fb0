"""The options that a run hands to its rounds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_opcost.check_options import CheckOptions
from pytest_opcost.options import Missing, Options, Update
from pytest_opcost.rounds.settings import Settings

CHECK = CheckOptions(3, (("conv/addmm", 0.2), ("copy/total", 0.1)), 0.3, 2.5, 7, 11, "report", "drift")
ASKED = Options(
    enabled=True,
    root=Path("/head"),
    devices=("cpu", "cuda:1"),
    batch_sizes=(1, 2),
    baselines=Path("/head/baselines"),
    mnist="sample",
    cache=Path("/cache"),
    missing=Missing.RECORD,
    update=Update.ALL,
    prune=True,
    threads=3,
    quiet=False,
    rounds=2,
    confirm=1,
    json=Path("out.json"),
    check=CHECK,
)
FOUND = replace(
    ASKED, enabled=False, root=Path("/base"), baselines=Path("/base/baselines"), devices=("cpu",), batch_sizes=(64,),
    mnist=None, threads=1, quiet=True, check=CheckOptions(), missing=Missing.FAIL, html=Path("page"),
    markdown=Path("report.md"), tensorboard=Path("runs"),
)  # fmt: skip


@pytest.mark.parametrize("options", [ASKED, FOUND], ids=["everything", "little"])
def test_they_survive_the_way_to_another_process(options):
    settings = Settings.of(options, exact=True)
    assert Settings.from_data(json.loads(json.dumps(settings.to_data()))) == settings


def test_a_round_measures_as_the_run_does_and_writes_nothing():
    options = Settings.of(ASKED, exact=False, turn=3).applied_to(FOUND)

    assert options == replace(
        ASKED, root=FOUND.root, baselines=FOUND.baselines, missing=Missing.REPORT, update=Update.NONE, prune=False,
        json=None, only_measure=True, exact=False, turn=3,
    )  # fmt: skip


def test_a_folder_of_mnist_is_where_the_run_sees_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Settings.of(replace(ASKED, mnist="data"), exact=True).mnist == str(tmp_path / "data")
    assert Settings.of(ASKED, exact=True).mnist == "sample"
    assert Settings.of(replace(ASKED, mnist=None), exact=True).mnist is None
