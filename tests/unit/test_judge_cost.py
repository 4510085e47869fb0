"""How operators and ratios are judged: what fails, what is cheaper, what cannot be told."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

pytest.importorskip("numpy")

from judging import reference, rounds
from records import CUDA, on_device, op, profile, step

from pytest_opcost.judge import Kind, Outcome, Reference, Rules, judge, microseconds, signed, unsigned
from pytest_opcost.judge.timing.changes import changes
from pytest_opcost.judge.verdict import CORE

CONV = "aten::mkldnn_convolution"
RATIO = Rules({"conv/addmm": None})


def large(**changed):
    """`step` a hundred times as long: floors in microseconds play no part."""
    return step(every=100.0, **changed) if not changed else _times(step(**changed), 100.0)


def _times(cost, factor):
    ops = (replace(one, self_host_us=one.self_host_us * factor) for one in cost.ops)
    return profile(*ops, load=cost.load)


def verdict(new, old=None, rules=None, count=6, **known):
    return judge(old or reference(large(), **known), rounds(new, count, seed=7), rules or Rules({}))


def kinds(found):
    return [(finding.kind, finding.op) for finding in found.findings]


def test_a_dearer_operator_fails_and_is_named_with_its_figures():
    (finding,) = verdict(large(convolution=1.3)).failing
    assert (finding.kind, finding.op, finding.family) == (Kind.DEARER, CONV, "conv")
    assert finding.change == pytest.approx(0.3, abs=0.03)
    assert finding.message.startswith(f"{CONV} (conv): 5")
    assert "us a step, was " in finding.message


def test_a_cheaper_one_is_told_and_does_not_fail():
    found = verdict(large(convolution=0.7))
    assert (kinds(found), found.failing) == ([(Kind.CHEAPER, CONV)], ())
    assert found.findings[0].message.endswith(": cheaper than the baseline")


def test_a_cheaper_one_fails_where_every_drift_does():
    found = verdict(large(convolution=0.7), rules=Rules({}, cheaper_fails=True))
    assert [(one.kind, one.op) for one in found.failing] == [(Kind.CHEAPER, CONV)]
    assert found.outcome is Outcome.DRIFTED
    assert not verdict(large(), rules=Rules({}, cheaper_fails=True)).failing


def test_of_two_sides_in_turns_it_is_cheaper_than_the_base():
    beside = replace(reference(large()), paired=True)
    (finding,) = judge(beside, rounds(large(convolution=0.7), 6), Rules({})).findings
    assert finding.message.endswith(": cheaper than the base")


def test_an_unchanged_step_passes_without_a_word():
    assert kinds(verdict(large())) == []


def test_a_change_that_noise_could_make_is_told_as_such():
    found = judge(reference(large()), rounds(large(convolution=1.05), 1, seed=3), Rules({}))
    assert [kind for kind, _ in kinds(found)] == [Kind.NOISE]
    assert "may be noise, only a change above" in found.findings[0].message


def test_a_fall_that_noise_could_make_is_told_with_the_fall_that_would_be_certain():
    found = judge(reference(large()), rounds(large(convolution=0.93), 1, seed=3), Rules({}))
    (message,) = [finding.message for finding in found.findings]
    (limit,) = re.findall(r"may be noise, only a fall by (\d+(?:\.\d)?) % or more is certain$", message)
    dearer = judge(reference(large()), rounds(large(convolution=1.05), 1, seed=3), Rules({})).findings[0].message
    (above,) = re.findall(r"a change above (\d+(?:\.\d)?) %", dearer)
    assert float(limit) / 100 == pytest.approx(1 - 1 / (1 + float(above) / 100), abs=0.01)


def test_two_operators_and_no_neighbour_of_theirs():
    assert {name for _, name in kinds(verdict(large(addmm=1.5, relu=1.8)))} == {"aten::addmm", "aten::relu"}


def test_a_machine_that_is_slower_as_a_whole_is_told_and_no_operator_is():
    found = verdict(_times(large(), 1.4))
    assert (kinds(found), found.failing) == ([(Kind.MACHINE, "all operators")], ())
    assert found.factor == pytest.approx(1.4, rel=0.03)
    assert "dearer: the machine changed" in found.findings[0].message


def test_what_grew_on_a_slower_machine_is_still_told_by_itself():
    (finding,) = verdict(_times(large(convolution=1.9), 1.2)).failing
    assert finding.op == CONV
    assert "beyond what the machine explains" in finding.message


def test_a_step_that_grew_as_a_whole_beyond_what_machines_do_fails():
    assert len(verdict(_times(large(), 2.0)).failing) > 3


def test_a_declared_tolerance_is_what_may_come_on_top_of_noise():
    assert kinds(verdict(large(convolution=1.3), rules=Rules({}, tolerance=0.5))) == []
    assert verdict(large(convolution=1.9), rules=Rules({}, tolerance=0.5)).failing


@pytest.mark.parametrize(("us", "fails"), [(1.5, False), (40.0, True)])
def test_a_change_must_be_some_microseconds(us, fails):
    small, grown = (
        profile(op("aten::sqrt", cost), op("aten::exp", 40.0), op("aten::conv2d", 40.0)) for cost in (10.0, 10.0 + us)
    )
    quiet = {"own": 0.0001, "common": 0.0001}
    known = Reference(reference(small, (400,), **quiet).profile, (400,), paired=True)
    found = judge(known, rounds(grown, 400, **quiet), Rules({}))
    assert bool(found.failing) is fails


@pytest.mark.parametrize(("floor_us", "fails"), [(None, True), (30.0, True), (60.0, False)])
def test_how_many_is_the_user_s_to_say(floor_us, fails):
    quiet = {"own": 0.0001, "common": 0.0001}
    small, grown = (
        profile(op("aten::sqrt", cost), op("aten::exp", 40.0), op("aten::conv2d", 40.0)) for cost in (10.0, 50.0)
    )
    known = Reference(reference(small, (400,), **quiet).profile, (400,), paired=True)
    assert bool(judge(known, rounds(grown, 400, **quiet), Rules({}, floor_us=floor_us)).failing) is fails


def test_a_floor_may_be_lower_than_the_clock_s():
    quiet = {"own": 0.0001, "common": 0.0001}
    small, grown = (
        profile(op("aten::sqrt", cost), op("aten::exp", 40.0), op("aten::conv2d", 40.0)) for cost in (10.0, 11.5)
    )
    known = Reference(reference(small, (400,), **quiet).profile, (400,), paired=True)
    assert not judge(known, rounds(grown, 400, **quiet), Rules({})).failing
    assert judge(known, rounds(grown, 400, **quiet), Rules({}, floor_us=1.0)).failing


def test_the_rest_is_judged_together_and_only_what_is_worth_it():
    many = [op(f"aten::small{i}", 100.0) for i in range(30)]
    old = profile(*large().ops, *many)
    new = profile(*large().ops, *(replace(one, self_host_us=300.0) for one in many))
    compared = changes(reference(old), rounds(new, 6, seed=5), Rules({}), set())
    other = compared.operators[-1]
    assert (len(compared.operators), other.op) == (7, "other")
    assert (other.before, other.now) == (pytest.approx(3000, rel=0.05), pytest.approx(9000, rel=0.05))
    assert [name for _, name in kinds(judge(reference(old), rounds(new, 6, seed=5), Rules({})))] == ["other"]


def test_operators_that_do_other_work_are_left_out():
    compared = changes(reference(large()), rounds(large(convolution=3.0), 3), Rules({}), {CONV})
    assert CONV not in [change.op for change in compared.operators]


def errors(old, new, **more):
    compared = changes(Reference(old.profile, old.sessions, **more), [new], Rules({}), set())
    return {change.op: change.error for change in compared.operators}


def test_another_card_of_the_same_model_may_differ_by_more():
    def card(name):
        return replace(CUDA, details=(("card", name),))

    old, same, other = (replace(on_device(large()), environment=card(name)) for name in ("a1", "a1", "b2"))
    known = reference(old)
    here, there = errors(known, same), errors(known, other)
    assert all(there[name] > here[name] for name in here)
    assert there[CONV] > 1.1 * here[CONV]
    assert here[CONV] < 0.01


def test_what_moved_on_another_card_is_told_with_that():
    def measured(card, cost):
        return replace(on_device(cost), environment=replace(CUDA, details=(("card", card),)))

    known = reference(measured("a1", large()))
    clear, doubtful = large(convolution=1.3), large(convolution=1.04)
    both, add = "--opcost-base measures both sides on one", "--opcost-add-rounds adds this one's rounds"
    for cost, outcome, mend in ((clear, Outcome.DRIFTED, both), (doubtful, Outcome.INCONCLUSIVE, add)):
        found = verdict(measured("b2", cost), known)
        assert (found.outcome, [one.op for one in found.findings].count(CORE)) == (outcome, 1)
        assert found.findings[-1].message == (
            f"another card made the baseline (a1, this one is b2), and cards of a model differ: {mend}"
        )
        for card in ("a1", "unknown"):
            assert CORE not in [one.op for one in verdict(measured(card, cost), known).findings]
    assert verdict(measured("b2", large()), known).findings == ()


def test_load_widens_what_the_host_may_do_and_not_what_a_device_does():
    known, busy = reference(large()), replace(large(), load=1.0)
    assert errors(known, busy)[CONV] > 1.1 * errors(known, large())[CONV]
    device = reference(on_device(large()))
    assert errors(device, replace(on_device(large()), load=1.0)) == errors(device, on_device(large()))


def test_in_turns_less_is_unknown_than_from_another_session():
    known = reference(large())
    assert errors(known, large(), paired=True)[CONV] < 0.9 * errors(known, large())[CONV]


def test_one_operator_alone_has_no_neighbours_to_be_compared_with():
    old, new = (profile(op("aten::conv2d", us)) for us in (10_000.0, 14_000.0))
    assert [one.op for one in verdict(new, reference(old)).failing] == ["aten::conv2d"]


def test_nothing_in_common_is_nothing_to_compare():
    compared = changes(reference(profile(op("aten::mm", 9.0))), [profile(op("aten::add", 9.0))], Rules({}), set())
    assert ([*compared], compared.factor) == ([], 1.0)


@pytest.mark.parametrize(("factors", "words"), [
    ({"convolution": 1.5}, "conv moved, conv "),
    ({"addmm": 0.6}, "addmm moved, addmm "),
    ({"convolution": 1.5, "addmm": 0.6}, "both sides moved"),
])  # fmt: skip
def test_a_ratio_fails_both_ways_and_names_the_side_that_moved(factors, words):
    found = [one for one in verdict(large(**factors), rules=RATIO).failing if one.kind is Kind.RATIO]
    assert [(one.op, words in one.message) for one in found] == [("conv/addmm", True)]
    falling = [one for one in verdict(large(addmm=1.6), rules=RATIO).failing if one.kind is Kind.RATIO]
    assert falling[0].change < -0.3


def test_a_ratio_stays_where_both_sides_move_alike():
    assert not [
        one for one in verdict(large(convolution=1.3, addmm=1.3), rules=RATIO).findings if one.op in RATIO.ratios
    ]


def test_a_declared_band_is_what_a_ratio_may_move_on_top_of_noise():
    wide = Rules({"conv/addmm": 0.8})
    assert Kind.RATIO not in [kind for kind, _ in kinds(verdict(large(convolution=1.5), rules=wide))]


def test_a_ratio_that_was_edited_in_the_file_fails():
    old = replace(reference(large()), ratios={"conv/addmm": 3.0})
    (finding,) = judge(old, rounds(large(), 6), RATIO).failing
    assert (finding.kind, finding.baseline) == (Kind.RATIO, 3.0)


def test_a_ratio_of_the_user_s_own_that_the_baseline_lacks_is_said():
    old = replace(reference(large()), ratios={})
    (finding,) = judge(old, [large()], Rules({"conv/pool": None})).findings
    assert (finding.kind, finding.fails) == (Kind.UNKNOWN, False)
    assert "it is not in the baseline; record it" in finding.message


def test_a_ratio_s_error_is_that_of_what_it_is_made_of():
    """The weights are the derivative of the ratio's log by each operator's."""
    from pytest_opcost.judge.timing.ratios import weights_of

    old = profile(*large().ops, op("aten::mm", 7_000.0))
    for one in old.ops:
        more = profile(
            *(replace(each, self_host_us=each.self_host_us * (1.0001 if each is one else 1)) for each in old.ops)
        )
        slope = (more.ratio("conv/addmm") / old.ratio("conv/addmm") - 1) / 0.0001
        assert weights_of(old, "conv/addmm").get(one.name, 0) == pytest.approx(slope, abs=0.001)


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.123, "+12 %"), (0.0123, "+1.2 %"), (-0.5, "-50 %"), (-0.043, "-4.3 %"), (0.0004, "+0.0 %"), (8.99, "+899 %"),
     (9.0, "10 times"), (12.3, "13.3 times"), (127.0, "128 times")],
)  # fmt: skip
def test_a_change_is_read_in_per_cent_and_from_ten_times_as_much_on_as_a_factor(value, words):
    assert (signed(value), unsigned(value)) == (words, words.lstrip("+-"))


def test_times_as_they_are_read():
    assert (microseconds(1234.5), microseconds(12.34), microseconds(0.5)) == ("1,234 us", "12.3 us", "0.5 us")
