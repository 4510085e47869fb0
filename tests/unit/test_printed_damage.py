"""Texts without a table, and damaged tables: the line and the reason."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

from printed import TORCH_1_4, TORCH_2_CUDA

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
