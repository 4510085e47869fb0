"""Tables of eighty columns, and what they leave out of long names."""

from __future__ import annotations

import pytest

from pytest_opcost.report.tables import WIDTH, narrow_table, shortened

FLASH = "aten::_scaled_dot_product_flash_attention_for_cpu"


def test_a_name_without_its_end():
    assert shortened(["aten::add", "aten::convolution_backward"], 15) == {
        "aten::add": "aten::add",
        "aten::convolution_backward": "aten::convol...",
    }


def test_names_that_begin_alike_show_their_ends():
    assert shortened([FLASH, f"{FLASH}_backward", "aten::add"], 30) == {
        FLASH: "aten::_scale...tention_for_cpu",
        f"{FLASH}_backward": "aten::_scale...or_cpu_backward",
        "aten::add": "aten::add",
    }


@pytest.mark.parametrize(
    "names",
    [
        [f"{FLASH}_{number}{'_of_a_kind' * 3}" for number in range(3)],
        ["a" * 50 + letter + "z" * 50 for letter in "bcd"],
        ["a" * length for length in (20, 30, 40)],
        ["x" * 12 + "...", "x" * 30, "x" * 40],
    ],
    ids=["early", "in the middle", "by length", "one that was cut before"],
)
@pytest.mark.parametrize("room", [-3, 1, 8, 15])
def test_names_that_differ_still_do(names, room):
    assert len({*shortened(names, room).values()}) == len(names)


def test_the_same_name_twice_is_one():
    assert shortened(["aten::convolution"] * 2, 12) == {"aten::convolution": "aten::con..."}


def test_a_table_keeps_its_width_and_its_rows_apart():
    rows = [[name, "attention", "1", "1,000.0", "10.0 %"] for name in (FLASH, f"{FLASH}_backward")]
    lines = narrow_table(rows, ["operator", "family", "calls", "host us", "share"], left=2)
    assert max(map(len, lines)) <= WIDTH
    first, second = (line.split()[0] for line in lines[-2:])
    assert first != second
    assert second.endswith("backward")
