"""Texts without a table, and damaged tables: the line and the reason."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("numpy")

from printed import TORCH_1_0, TORCH_1_4, TORCH_1_5_CUDA, TORCH_1_7_CUDA, TORCH_2_CUDA, TORCH_2_STACKS

from pytest_opcost.errors import InputError
from pytest_opcost.imports.files import import_file


@pytest.fixture
def refusal(tmp_path):
    def message(content):
        path = tmp_path / "table.txt"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(InputError) as refused:
            import_file(path)
        return str(refused.value).replace(str(path), "table.txt")

    return message


def test_a_torn_row(refusal):
    assert refusal(TORCH_1_4.replace("300.000us        150.000us", "300.0").replace("addmm", "addmm ")) == (
        'table.txt, line 5: this row of the table is damaged: nothing readable under "CPU total".\n'
        "Found: addmm                         30.00%           300.000us        30.00%           300.0        2\n"
        "Expected: a name, then Self CPU total %, Self CPU total, CPU total %, CPU total, CPU time avg, Number of "
        "Calls.\nPrint or copy the table again, without wrapped lines."
    )


def test_a_row_without_its_calls(refusal):
    told = refusal(TORCH_2_CUDA.replace("300.000us             4  \nvoid", "300.000us\nvoid"))
    assert told.startswith('table.txt, line 9: this row of the table is damaged: nothing readable under "# of Calls".')


LAYOUTS = {"1.4": TORCH_1_4, "1.5": TORCH_1_5_CUDA, "1.7": TORCH_1_7_CUDA, "2": TORCH_2_CUDA, "stacks": TORCH_2_STACKS}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_a_text_that_ends_within_a_name_or_behind_it(refusal, text):
    lines = text.splitlines()
    last = max(number for number, line in enumerate(lines) if "add" in line and "%" in line)
    start = "\n".join(lines[:last]) + "\n"
    name = lines[last].index("add") + 3
    for torn in (lines[last][: name - 1], lines[last][:name], lines[last][: name + 1]):
        assert f"table.txt, line {last + 1}: the text ends in the midst of this row of the table.\nFound: " in refusal(
            start + torn
        )
    for torn in (f"{lines[last][:name]}   30", f"{lines[last][:name]}   30.0\n"):
        assert f"table.txt, line {last + 1}: the text ends in the midst" in refusal(start + torn)


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_a_row_in_the_midst_that_is_none(refusal, text):
    lines = text.splitlines()
    rows = [number for number, line in enumerate(lines) if re.search(r"\d+%", line)]
    lines[rows[1]] = re.sub(r"\d", "x", lines[rows[1]])
    told = refusal("\n".join(lines) + "\n")
    assert told.startswith(f"table.txt, line {rows[1] + 1}: this row of the table is damaged: nothing readable under ")


def test_a_text_that_ends_within_its_last_count(refusal):
    start, row, _ = TORCH_2_CUDA.partition(TORCH_2_CUDA.splitlines()[8])
    assert row.rstrip().endswith("  4")
    told = refusal(start + row.rstrip().removesuffix(" 4") + "4")  # of 40
    assert told.startswith(
        "table.txt, line 9: the text ends in the midst of this row of the table.\nFound: aten::addmm"
    )


def test_words_below_a_table_without_an_end_are_no_row(tmp_path):
    path = tmp_path / "table.txt"
    whole_rows = TORCH_1_7_CUDA.rpartition("\n---")[0]
    for text in (TORCH_1_0, TORCH_1_0.rstrip(), f"{whole_rows}\ndone\n", f"{whole_rows}\n\ndone", f"{whole_rows}\n--"):
        path.write_text(text)
        assert import_file(path)


def test_a_header_without_rows(refusal):
    told = refusal("\n".join(TORCH_1_4.splitlines()[:3]))
    assert told.startswith("table.txt, line 2: a table without rows.\nFound: its header, Name, Self CPU total %")


def test_a_header_that_nobody_understands(refusal):
    told = refusal("x\nName  Wall CPU seconds  and more\n")
    assert "Found: a header in line 2 whose columns are not understood, in 2 lines." in told


@pytest.mark.parametrize("content", ["", "\n\n", b"\x00\xff\x7fELF"])
def test_no_table_at_all(refusal, content):
    assert refusal(content).startswith("table.txt: no table of torch's profiler is in it.\nFound: ")


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file or directory"):
        import_file(tmp_path / "absent.txt")


def test_a_folder(tmp_path):
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        import_file(tmp_path)
