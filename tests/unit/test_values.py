from __future__ import annotations

import pytest

from pytest_opcost import values
from pytest_opcost.errors import OptionError
from pytest_opcost.families import FAMILIES


def refused(parse, value, where="--opcost-x"):
    with pytest.raises(OptionError) as caught:
        parse(where, value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("parse", "value", "expected"),
    [
        (values.positive, "16", 16),
        (values.positive, 1, 1),
        (values.natural, "0", 0),
        (values.fraction, "0.1", 0.1),
        (values.fraction, 0, 0.0),
        (values.fraction, "3", 3.0),
        (values.microseconds, "0.5", 0.5),
        (values.one_of("fail", "report"), "report", "report"),
        (values.text, "a folder", "a folder"),
    ],
)
def test_a_value_that_makes_sense(parse, value, expected):
    parsed = parse("--opcost-x", value)
    assert (parsed, type(parsed)) == (expected, type(expected))


@pytest.mark.parametrize("value", [0, "0", -1, "-1", "abc", "", "1.5", 2.5, True, False, None, [3]])
def test_no_whole_number_above_zero(value):
    assert refused(values.positive, value) == (
        f"--opcost-x={value!r} is not valid.\nExpected: a whole number, 1 or more, such as 16."
    )


@pytest.mark.parametrize("value", [-1, "-1", "x", True, 0.5])
def test_no_whole_number(value):
    assert "Expected: a whole number, 0 or more, such as 5." in refused(values.natural, value)


@pytest.mark.parametrize("value", ["nan", float("nan"), "inf", float("inf"), "-inf", -0.1, "x", "", True, None])
def test_no_fraction(value):
    assert refused(values.fraction, value) == (
        f"--opcost-x={value!r} is not valid.\nExpected: a number, 0 or more, such as 0.10 for 10 %."
    )


@pytest.mark.parametrize("value", ["nan", float("inf"), -0.1, "5us", True])
def test_no_microseconds(value):
    assert refused(values.microseconds, value) == (
        f"--opcost-x={value!r} is not valid.\nExpected: microseconds, 0 or more, such as 5."
    )


@pytest.mark.parametrize("value", ["Fail", "", None, ["fail"], True])
def test_no_word_of_the_list(value):
    text = refused(values.one_of("record", "report", "fail"), value)
    assert text == f"--opcost-x={value!r} is not valid.\nExpected: record, report or fail."


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1,16,64", (1, 16, 64)),
        (" 1 , 16 ", (1, 16)),
        (["1", "16,64"], (1, 16, 64)),
        (("2", "2,1,2"), (2, 1)),
        (8, (8,)),
    ],
)
def test_a_list_is_comma_separated_or_repeated_and_holds_nothing_twice(value, expected):
    assert values.list_of(values.positive)("--opcost-x", value) == expected


@pytest.mark.parametrize("value", ["", ["1", "abc"], "1,0", "1,,x"])
def test_a_list_with_an_item_that_makes_no_sense(value):
    assert "is not valid" in refused(values.list_of(values.positive), value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1,,2", ", such as 1,2"), (",1", ", such as 1"), (["1", ""], ", such as 1"), (" , ", "")],
)
def test_a_list_with_a_comma_too_many(value, expected):
    told = refused(values.list_of(values.positive), value)
    assert "has nothing between two commas, or at an end.\n" in told
    assert told.endswith(f"Expected: values with commas between{expected}.")


@pytest.mark.parametrize("name", ["cpu", "cuda", "cuda:0", "cuda:12", "mps", "xpu", "xpu:1"])
def test_devices(name):
    assert values.device_name("--device", name) == name


@pytest.mark.parametrize("name", ["gpu", "", "cuda:", "cuda:x", "cpu:1", "CPU", "cuda:-1", "cpux", "xcpu", None])
def test_an_unknown_device_is_refused_with_those_that_are_known(name):
    text = refused(values.device_name, name, "--device")
    assert text.startswith(f"--device={name!r} is no device that opcost knows.\n")
    assert "cpu, cuda, cuda:1 (or another index), mps or xpu" in text
    assert text.endswith("For example: --device=cpu")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("copy/total=0.2", ("copy/total", 0.2)),
        (" copy/total = 0.2 ", ("copy/total", 0.2)),
        ("conv/addmm", ("conv/addmm", 0.10)),
        ("aten::mm/my::op=1", ("aten::mm/my::op", 1.0)),
    ],
)
def test_a_ratio_and_its_band(value, expected):
    assert values.ratio("--opcost-ratio", value) == expected


@pytest.mark.parametrize("value", ["conv", "conv/", "/addmm", "a/b/c", "", "=0.1", "conv/addmm forward", "a b/c"])
def test_no_ratio(value):
    name = value.partition("=")[0].strip()
    assert refused(values.ratio, value, "--opcost-ratio") == (
        f"--opcost-ratio: {name!r} is no ratio.\n"
        "Expected: two families, operators or `total` with a slash between, such as conv/addmm or copy/total."
    )


@pytest.mark.parametrize("side", [*FAMILIES, "total", "aten::mm", "my::op", "AddmmBackward0", "cudaLaunchKernel"])
def test_a_side_may_be_any_family_operator_or_the_total(side):
    assert values.ratio("--opcost-ratio", f"{side}/total")[0] == f"{side}/total"
    assert values.ratios("ratios", {f"total/{side}": 0.1}) == ((f"total/{side}", 0.1),)


@pytest.mark.parametrize(
    ("side", "closest"),
    [("con", "conv"), ("Conv", "conv"), ("atention", "attention"), ("relu", "elementwise"), ("totl", "total"),
     ("foo", None)],
)  # fmt: skip
def test_a_side_that_there_cannot_be_is_refused_with_what_is_closest(side, closest):
    text = (
        f"--opcost-ratio: '{side}/total' is no ratio: {side!r} is neither a family nor an operator's full name.\n"
        f"Expected: `total`, an operator such as aten::mm, or a family: {', '.join(FAMILIES)}."
    ) + (f"\nThe closest is {closest}." if closest else "")
    assert refused(values.ratio, f"{side}/total=0.1", "--opcost-ratio") == text
    assert refused(values.ratios, {f"{side}/total": 0.1}, "--opcost-ratio") == text
    assert f"{side!r} is neither" in refused(values.ratio, f"total/{side}")


@pytest.mark.parametrize("band", ["x", "-0.1", "nan", "inf", "0.1=0.2"])
def test_a_ratio_with_a_band_that_makes_no_sense(band):
    text = refused(values.ratio, f"conv/addmm={band}", "--opcost-ratio")
    assert text.startswith(f"--opcost-ratio: the band of conv/addmm={band!r} is not valid.")


def test_ratios_of_a_marker():
    assert values.ratios("ratios", {"conv/addmm": 0.2, "copy/total": "0.3"}) == (
        ("conv/addmm", 0.2),
        ("copy/total", 0.3),
    )
    assert values.ratios("ratios", {}) == ()


@pytest.mark.parametrize("value", ["conv/addmm", ["conv/addmm"], 0.1, True])
def test_ratios_of_a_marker_are_a_mapping(value):
    assert refused(values.ratios, value, "ratios") == (
        f"ratios={value!r} is not valid.\nExpected: a dict such as {{'conv/addmm': 0.10}}."
    )


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"conv": 0.1}, "ratios: 'conv' is no ratio."),
        ({3: 0.1}, "ratios: 3 is no ratio."),
        ({"conv/pool": True}, "ratios: the band of conv/pool=True is not valid."),
        ({"conv/pool": float("nan")}, "ratios: the band of conv/pool=nan is not valid."),
        ({"conv/pool": None}, "ratios: the band of conv/pool=None is not valid."),
    ],
)
def test_ratios_of_a_marker_that_make_no_sense(value, told):
    assert refused(values.ratios, value, "ratios").startswith(told)
