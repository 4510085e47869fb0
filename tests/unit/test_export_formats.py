from __future__ import annotations

import pytest
from exports import both

from pytest_opcost import values
from pytest_opcost.errors import OptionError, ReportError
from pytest_opcost.report.exports import writer_of


@pytest.mark.parametrize("kind", values.EXPORTS)
def test_every_format_has_a_writer_that_writes_whole_files(tmp_path, kind):
    writer_of(kind)(tmp_path / "new" / "export", both())
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["export"]
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(ReportError, match="Choose another place with --opcost-export=FORMAT:PATH"):
        writer_of(kind)(tmp_path / "file" / "export", both())


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("csv:a, b.csv", (("csv", "a, b.csv"),)),
        (["csv:C:\\a.csv", "gitlab:m.txt"], (("csv", "C:\\a.csv"), ("gitlab", "m.txt"))),
        (["csv:a.csv", "csv:a.csv", "csv:b.csv"], (("csv", "a.csv"), ("csv", "b.csv"))),
    ],
)
def test_a_format_and_a_path(given, found):
    assert values.exports("--opcost-export", given) == found


@pytest.mark.parametrize("given", ["csv", "csv:", "csv: ", ":a.csv", "", "json:a.json", "CSV:a.csv", ["csv:a", "x:b"]])
def test_something_else_is_refused(given):
    with pytest.raises(OptionError) as caught:
        values.exports("--opcost-export", given)
    first, second = str(caught.value).splitlines()
    assert first.endswith("is not valid.")
    assert second.startswith("Expected: FORMAT:PATH, such as csv:costs.csv. The formats are bencher, csv, github-")


def test_two_formats_in_one_file_are_refused():
    with pytest.raises(OptionError, match="'gitlab:a' would overwrite the csv file of the same name"):
        values.exports("--opcost-export", ["csv:a", "gitlab:a"])
