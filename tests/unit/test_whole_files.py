from __future__ import annotations

import errno
import os

import pytest

from pytest_opcost.errors import ReportError
from pytest_opcost.report.whole_files import write_whole


def test_the_file_and_its_folder_are_made(tmp_path):
    path = tmp_path / "new" / "deep" / "report.md"
    write_whole(path, b"one", "--option")
    write_whole(path, b"two", "--option")
    assert path.read_bytes() == b"two"
    assert path.stat().st_mode & 0o777 == 0o644
    assert os.listdir(path.parent) == ["report.md"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "report.md"
    path.write_bytes(b"old")

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ReportError) as caught:
        write_whole(path, b"new", "--opcost-markdown=FILE")
    assert str(caught.value) == (
        f"{path}: the report could not be written: No space left on device.\n"
        "Expected: a folder that can be written, and room on its disk; what was there before is untouched.\n"
        "Choose another place with --opcost-markdown=FILE."
    )
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report.md"]


def test_a_file_where_the_folder_should_be(tmp_path):
    (tmp_path / "logs").write_text("mine", encoding="utf-8")
    with pytest.raises(ReportError, match=r"could not be written: (File exists|Not a directory)"):
        write_whole(tmp_path / "logs" / "report.md", b"new", "--option")
    assert (tmp_path / "logs").read_text(encoding="utf-8") == "mine"
