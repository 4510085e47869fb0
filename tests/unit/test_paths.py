"""Paths as they are told."""

from __future__ import annotations

from pathlib import Path

from pytest_opcost.paths import from_here


def test_a_path_below_the_working_folder_is_told_from_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert from_here(tmp_path / "baselines" / "a.yaml") == Path("baselines", "a.yaml")
    assert from_here(Path("a.yaml")) == Path("a.yaml")
    assert from_here(tmp_path.parent / "a.yaml") == tmp_path.parent / "a.yaml"


def test_a_working_folder_that_is_gone_is_none(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert from_here(gone / "a.yaml") == gone / "a.yaml"
