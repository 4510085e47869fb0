"""What is compared where one side is a printed table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from records import CPU, op, profile

from pytest_opcost.imports.known import NOT_PRINTED, PRINTED, SOURCE
from pytest_opcost.results import Subject
from pytest_opcost.shell.known import Known
from pytest_opcost.shell.tables import likened

TABLE = replace(CPU, details=((SOURCE, PRINTED),))
LONG = "aten::_scaled_dot_product_flash_attention_for_cpu_backward"
CUT = "aten::_scaled_dot_product_flash_attention_for_cpu_ba..."


def known(*ops, environment=CPU, **ratios):
    cost = profile(*ops, environment=environment)
    return Known(Subject("a", None, "a", "cpu", None), cost, (1,), ratios, Path("a.json"), "measured")


def table(*ops, **ratios):
    return known(*ops, environment=TABLE, **ratios)


def rows(one):
    return {row.name: (row.calls, row.self_host_us) for row in one.profile.ops}


def test_two_others_stay_as_they_are():
    before, after = known(op("aten::mm", 5.0)), known(op("my block", 5.0))
    assert likened(before, after) == (before, after)
    assert likened(before, after)[0].profile is before.profile


def test_names_are_cut_as_the_table_cuts_them_and_those_of_one_visible_name_are_added_up():
    before, after = likened(
        table(op(CUT, 9.0, calls=3)), known(op(LONG, 5.0, samples=(5.0,)), op(LONG + "_more", 4.0, calls=2))
    )
    assert rows(before) == rows(after) == {CUT: (3, 9.0)}
    assert [row.family for side in (before, after) for row in side.profile.ops] == ["attention", "attention"]
    assert after.profile.ops[0].samples == ()


def test_of_rows_that_were_not_printed_nothing_is_compared():
    before, after = likened(
        table(op("aten::mm", 5.0), op(NOT_PRINTED, 4.0, calls=0)), known(op("aten::mm", 6.0), op("aten::add", 3.0))
    )
    assert (rows(before), rows(after)) == ({"aten::mm": (1, 5.0)}, {"aten::mm": (1, 6.0)})
    assert (before.profile.total_us, after.profile.total_us) == (5.0, 6.0)


def test_what_may_be_an_annotation_is_left_out_and_operators_are_not():
    before, _ = likened(
        table(op("model inference", 5.0), op("aten::mm", 4.0), op("MmBackward0", 3.0), op("Mine", 2.0)),
        known(op("Mine", 2.0)),
    )
    assert set(rows(before)) == {"aten::mm", "MmBackward0", "Mine"}


def test_between_two_tables_annotations_and_calls_count():
    before, after = likened(table(op("model inference", 5.0), op("aten::mm", calls=2)), table(op("aten::mm", calls=3)))
    assert rows(before) == {"model inference": (1, 5.0), "aten::mm": (2, 0.0)}
    assert rows(after) == {"aten::mm": (3, 0.0)}


def test_calls_that_a_table_may_have_folded_are_not_compared_and_fewer_are():
    before, after = likened(
        table(op("aten::div", calls=2), op("aten::mm", calls=2)), known(op("aten::div", calls=3), op("aten::mm"))
    )
    assert {name: calls for name, (calls, _) in rows(before).items()} == {"aten::div": 2, "aten::mm": 2}
    assert {name: calls for name, (calls, _) in rows(after).items()} == {"aten::div": 2, "aten::mm": 1}


def test_a_table_knows_no_phases_so_that_ratios_are_those_of_the_whole_step():
    ratios = {"conv/addmm": 1.0, "conv/addmm forward": 4.0}
    of_trace = known(op("aten::convolution", 4.0), op("aten::addmm", 4.0, forward=0.25), **ratios)
    of_table = table(op("aten::convolution", 4.0), op("aten::addmm", 2.0), **{"conv/addmm": 9.0})
    for sides in ((of_trace, of_table), (of_table, of_trace)):
        found = dict(zip(map(id, sides), likened(*sides)))
        assert found[id(of_trace)].ratios == {"conv/addmm": 1.0}
        assert found[id(of_table)].ratios == {"conv/addmm": 2.0}
