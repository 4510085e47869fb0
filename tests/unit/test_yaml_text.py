from __future__ import annotations

import pytest

from pytest_opcost.yaml_text import line_of


@pytest.mark.parametrize(
    ("name", "before", "expected"),
    [
        ("test", "", "a[1]"),
        ("check", "", "late"),
        ("check", "recorded", None),
        ("test", "recorded", "a[1]"),
        ("x", "", None),
    ],
)
def test_a_field_is_found_above_another_or_anywhere(tmp_path, name, before, expected):
    path = tmp_path / "x.yaml"
    path.write_text("# test: comment\ntest: a[1]\nrecorded: '2026-11-29'\ncheck: late\n")
    assert line_of(path, name, before=before) == expected


def test_a_file_that_is_gone_has_no_field(tmp_path):
    assert line_of(tmp_path / "x.yaml", "test") is None
