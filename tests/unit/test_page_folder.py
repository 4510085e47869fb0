"""A report of many files, replaced whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from pytest_opcost.errors import ReportError
from pytest_opcost.report.page.folder import publish

OPTION = "--html=DIR"


def index(name):
    return f'<meta name="generator" content="pytest-opcost 1">see {name}'


def files(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_all_files_and_an_index_that_leads_to_them(tmp_path):
    folder = tmp_path / "new" / "page"
    publish(folder, index, {"a.html": b"A", "traces/b.json": b"B"}, OPTION)
    (pages,) = folder.glob("pages-*")
    assert (folder / "index.html").read_text() == index(pages.name)
    assert files(pages) == {"a.html": "A", "traces/b.json": "B", "written-by-pytest-opcost": ""}
    if os.name == "posix":
        assert [stat.S_IMODE(path.stat().st_mode) for path in (pages, folder / "index.html")] == [0o755, 0o644]


def test_a_page_of_somebody_else_stays(tmp_path):
    (tmp_path / "index.html").write_text("<!doctype html><title>Mine</title>")
    with pytest.raises(ReportError, match=r"index\.html was not written by pytest-opcost") as told:
        publish(tmp_path, index, {"a.html": b"A"}, OPTION)
    assert str(told.value).endswith(f"Choose another place with {OPTION}.")
    assert files(tmp_path) == {"index.html": "<!doctype html><title>Mine</title>"}


def test_a_later_report_replaces_an_earlier_one_and_nothing_else(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "pages-00000000").mkdir()
    publish(tmp_path, index, {"a.html": b"A"}, OPTION)
    publish(tmp_path, index, {"a.html": b"B"}, OPTION)
    left = {path.name for path in tmp_path.iterdir()}
    assert {"notes.txt", "index.html", "pages-00000000"} < left
    assert len(left) == 4
    assert [text for name, text in files(tmp_path).items() if name.endswith("a.html")] == ["B"]


def test_the_same_report_again_is_the_same(tmp_path):
    publish(tmp_path, index, {"a.html": b"A"}, OPTION)
    before = files(tmp_path)
    publish(tmp_path, index, {"a.html": b"A"}, OPTION)
    assert files(tmp_path) == before


@pytest.mark.parametrize("broken", ["b.html", "index.html"])
def test_a_disk_that_fills_up_leaves_the_earlier_report_whole(tmp_path, monkeypatch, broken):
    publish(tmp_path, index, {"a.html": b"A"}, OPTION)
    before = files(tmp_path)
    write, replace = Path.write_bytes, os.replace

    def write_bytes(self, content):
        if self.name == broken:
            write(self, b"half")
            raise OSError(28, "No space left on device")
        return write(self, content)

    def replace_with(self, target):
        if Path(target).name == broken:
            raise OSError(28, "No space left on device")
        return replace(self, target)

    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    monkeypatch.setattr(os, "replace", replace_with)
    with pytest.raises(ReportError, match=r"could not be written to .*: No space left on device") as told:
        publish(tmp_path, index, {"a.html": b"A2", "b.html": b"B2"}, OPTION)
    assert str(told.value).endswith(f"Choose another place with {OPTION}.")
    assert {name: text for name, text in files(tmp_path).items() if name in before} == before
    assert not list(tmp_path.glob(".*"))


def test_a_file_in_the_folders_place(tmp_path):
    (tmp_path / "page").write_text("a file")
    with pytest.raises(ReportError, match="could not be written"):
        publish(tmp_path / "page", index, {"a.html": b"A"}, OPTION)
    assert (tmp_path / "page").read_text() == "a file"
