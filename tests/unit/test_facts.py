"""The records of what is exact: counting, what agrees between steps and rounds, and briefer forms of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import op, profile

from pytest_opcost.facts import COMPARED, OpFacts, Place, agreed, brief, counted, digest, same
from pytest_opcost.merging import merged

FACTS = OpFacts(
    inputs=(("f32[2] f32[2]", 2),), flops=100, kernels=(("gemm", 2),), syncs=1, alloc_bytes=64,
    places=(Place("forward", "fc1", "model.py:3"),),
)  # fmt: skip
OTHERS = {"inputs": (("f32[4]", 1),), "flops": 7, "kernels": (("copy", 1),), "syncs": 2, "alloc_bytes": 0}


def test_counts_come_most_often_first_and_equals_by_name():
    assert counted(["b", "c", "a", "c"]) == (("c", 2), ("a", 1), ("b", 1))
    assert counted([]) == ()


def test_steps_that_agree_are_one():
    assert agreed([FACTS]) == FACTS
    assert agreed([FACTS, FACTS, FACTS]) == FACTS


@pytest.mark.parametrize("fact", COMPARED)
def test_what_differs_between_steps_varies(fact):
    other = replace(FACTS, **{fact: OTHERS[fact]})
    for steps in ([FACTS, other], [other, FACTS], [FACTS, FACTS, other]):
        assert agreed(steps).varying == (fact,)


def test_every_variant_is_kept_with_the_most_that_was_seen_in_one_step():
    one = OpFacts(inputs=(("a", 1), ("b", 3)), kernels=(("k", 1),))
    two = OpFacts(inputs=(("b", 1), ("c", 2)), kernels=(("k", 1),))
    assert agreed([one, two]) == OpFacts(
        inputs=(("b", 3), ("c", 2), ("a", 1)), kernels=(("k", 1),), varying=("inputs",)
    )


def test_what_varied_in_one_round_varies_in_all_of_them_in_the_order_of_telling():
    one, two = replace(FACTS, varying=("alloc_bytes",)), replace(FACTS, inputs=(), varying=("flops",))
    assert agreed([one, two]).varying == ("inputs", "flops", "alloc_bytes")


def test_another_place_does_not_vary():
    assert agreed([FACTS, replace(FACTS, places=())]).varying == ()


def test_a_brief_count_is_a_digest_and_the_total():
    ((name, total),) = brief((("f32[2]", 2), ("f32[3]", 1)))
    assert (name, total) == (f"#{digest('2 f32[2] | 1 f32[3]')}", 3)
    assert len(name) == 9
    assert brief((("f32[2]", 1), ("f32[3]", 2))) != brief((("f32[2]", 2), ("f32[3]", 1)))


def test_counts_are_compared_whether_brief_or_not():
    full, other = (("f32[2]", 2), ("f32[3]", 1)), (("f32[2]", 2), ("f32[4]", 1))
    assert same(full, full)
    assert same(full, brief(full))
    assert same(brief(full), full)
    assert same(brief(full), brief(full))
    assert not same(full, other)
    assert not same(full, brief(other))
    assert not same(brief(other), full)
    assert not same(full, ())
    assert not same((), brief(full))


def test_a_digest_depends_on_the_text_alone():
    assert digest("a long name") == "5e9edc57"
    assert digest("a long name", 4) == "5e9e"


def test_a_profile_adds_up_the_flops_of_what_has_facts():
    assert profile(op("aten::mm", facts=FACTS), op("aten::add"), op("aten::bmm", facts=FACTS)).flops == 200


def test_rounds_are_merged_with_their_facts():
    rounds = [
        profile(op("aten::mm", 1.0, facts=FACTS), op("aten::add", 1.0)),
        profile(op("aten::mm", 1.0, facts=replace(FACTS, syncs=2)), op("aten::add", 1.0, facts=FACTS)),
    ]
    table = merged(rounds).by_name()
    assert table["aten::mm"].facts == replace(FACTS, varying=("syncs",))
    assert table["aten::add"].facts == FACTS
    assert merged([profile(op("aten::mm", 1.0))]).by_name()["aten::mm"].facts is None


def test_rounds_are_merged_with_the_names_of_all_their_kernels():
    one = replace(profile(op("aten::mm", 1.0)), kernel_names=(("b#1", "void b<1>()"),))
    two = replace(one, kernel_names=(("a#2", "void a<2>()"), ("b#1", "void b<1>()")))
    assert merged([one, two]).kernel_names == (("a#2", "void a<2>()"), ("b#1", "void b<1>()"))


def test_what_is_brief_is_brief_already():
    """A baseline that is read and written again keeps its digests."""
    once = brief((("f32[2,3]", 2), ("f32[4]", 1)))
    assert brief(once) == once == (("#" + once[0][0][1:], 3),)
    assert brief((("#1a2b3c4d", 1), ("f32[4]", 1))) != (("#1a2b3c4d", 1), ("f32[4]", 1))
