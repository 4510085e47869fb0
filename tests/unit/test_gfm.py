from __future__ import annotations

import pytest

from pytest_opcost.report.gfm import code, plain, sentence, table


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("conv runs as aten::mm", "conv runs as aten::mm"),
        ("a_b", "a_b"),
        ("aten::_softmax and aten::copy_", r"aten::\_softmax and aten::copy\_"),
        ("<script>|*x*", r"\<script\>\|\*x\*"),
        ("![a](b) & `c`", r"\!\[a\](b) \& \`c\`"),
        ("two\nlines\r\nand\ttabs", "two lines and tabs"),
        ("50 % of $x$", r"50 % of \$x\$"),
    ],
)
def test_text_reads_as_it_is(text, expected):
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aten::_softmax", "`aten::_softmax`"),
        ("<b>", "`<b>`"),
        ("a|b", r"`a\|b`"),
        ("a`b", "`` a`b ``"),
        ("``", "``` `` ```"),
        ("a\nb", "`a b`"),
        ("", "` `"),
    ],
)
def test_code_ends_where_the_name_ends(text, expected):
    assert code(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("aten::sqrt_ with 18 %, aten::_softmax.", "`aten::sqrt_` with 18 %, `aten::_softmax`."),
        ("c10d::all_reduce, aten::add.Tensor and *b*", r"`c10d::all_reduce`, `aten::add.Tensor` and \*b\*"),
        ("void at::native::kernel<int>", r"void at::native::kernel\<int\>"),  # no operator: C++
        ("nothing: to set", "nothing: to set"),
        ('pytest "test_a.py::TestA::test_b[cpu-3]"', r'pytest "test_a.py::TestA::test_b\[cpu-3\]"'),  # a test
    ],
)
def test_operators_in_a_sentence_are_code(text, expected):
    assert sentence(text) == expected


def test_a_table_is_aligned_for_who_reads_it_as_text():
    assert table(["operator", "us"], [["`a`", "1.0"], ["`bb`", "1,000.0"]]) == [
        "| operator |      us |",
        "| -------- | ------: |",
        "| `a`      |     1.0 |",
        "| `bb`     | 1,000.0 |",
    ]


def test_a_table_without_rows():
    assert table(["a", "b"], [], left=2) == ["| a   | b   |", "| --- | --- |"]
