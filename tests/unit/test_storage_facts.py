"""The exact facts in a baseline file: what is written of them, that it reads back, and that it stays readable."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import baseline, op, profile

from pytest_opcost import rendering, storage
from pytest_opcost.facts import OpFacts, Place, brief
from pytest_opcost.judge.exact import exact_findings

FACTS = OpFacts(
    inputs=(("f32[128] f32[16,9216] f32[9216,128]", 2), ("(f32[3] and 2 more, #1a2b) i64[]", 1)),
    flops=37_789_696,
    kernels=(("convolution jit:avx512_core", 2), ("Memcpy HtoD (Pageable -> Device)", 1), ("gemm<f, g>#09c5", 1)),
    syncs=1,
    alloc_bytes=8832,
    places=(Place("forward", "layer1.0.conv"), Place("optimizer")),
    varying=("syncs", "alloc_bytes"),
)
MANY = tuple((f"f32[{size}]", 1) for size in range(10, 10 + rendering.MOST_VARIANTS + 1))
LONG = ((f"f32[{','.join(['1000'] * 90)}]", 1),)


def text_of(**facts):
    cost = profile(op("aten::mm", 2.0), *(op(name, 1.0, facts=one) for name, one in facts.items()))
    return rendering.render(baseline(cost), 10)


def back(tmp_path, facts):
    """The facts of the operator `x` when its baseline was written and read."""
    path = tmp_path / "a.yaml"
    path.write_text(text_of(x=facts), encoding="utf-8")
    return storage.load(path).profile.by_name()["x"].facts


def lines(text):
    """The lines of the file's `facts` block."""
    return text.partition("facts:\n")[2].splitlines()


def test_a_line_for_each_operator_with_all_that_is_known():
    expected = (
        "  x: {flops: 37789696, alloc_bytes: 8832, syncs: 1, kernels: {'convolution jit:avx512_core': 2, "
        "Memcpy HtoD (Pageable -> Device): 1, 'gemm<f, g>#09c5': 1}, "
        "inputs: {'f32[128] f32[16,9216] f32[9216,128]': 2, "
        "'(f32[3] and 2 more, #1a2b) i64[]': 1}, varying: [syncs, alloc_bytes], at: [forward layer1.0.conv, optimizer]}"
    )
    assert lines(text_of(x=FACTS)) == [expected]


def test_what_is_empty_or_zero_is_left_out():
    assert lines(text_of(x=OpFacts(syncs=2), y=OpFacts(inputs=(("f32[2]", 1),)))) == [
        "  x: {syncs: 2}",
        "  y: {inputs: {'f32[2]': 1}}",
    ]
    assert "facts" not in text_of(x=OpFacts(), y=None)


def test_places_alone_are_no_facts_and_source_lines_stay_out():
    assert "facts" not in text_of(x=OpFacts(places=(Place("forward", "fc1", "a.py:1"),)))
    places = (Place("forward", "fc1", "a.py:1"), Place("forward", "fc1", "a.py:2"), Place("backward", "", "a.py:3"))
    assert lines(text_of(x=OpFacts(syncs=1, places=places))) == ["  x: {syncs: 1, at: [forward fc1, backward]}"]


def test_of_many_places_the_first_are_told(tmp_path):
    places = tuple(Place("forward", f"layer{index}") for index in range(50))
    assert back(tmp_path, OpFacts(syncs=1, places=places)).places == places[: rendering.MOST_PLACES]


@pytest.mark.parametrize(
    "facts",
    [
        FACTS,
        OpFacts(flops=10**18),
        OpFacts(inputs=MANY[: rendering.MOST_VARIANTS]),
        OpFacts(inputs=((f"f32[{','.join(['10'] * 100)}]", 1),)),
        OpFacts(kernels=(("a: b, {c} [d] 'e' \"f\" #g", 3), ("null", 2), ("1", 1), ("yes", 1))),
        OpFacts(varying=("inputs",)),
    ],
    ids=["all", "large", "eight variants", "a long one", "odd names", "varying alone"],
)
def test_facts_read_back(tmp_path, facts):
    assert back(tmp_path, facts) == facts


@pytest.mark.parametrize("fact", ["inputs", "kernels"])
@pytest.mark.parametrize("counts", [MANY, LONG], ids=["many", "long"])
def test_more_than_can_be_read_becomes_a_digest_that_still_compares(tmp_path, fact, counts):
    facts = OpFacts(**{fact: counts})
    (line,) = lines(text_of(x=facts))
    assert len(line) < 40
    stored = back(tmp_path, facts)
    assert getattr(stored, fact) == brief(counts)

    def judged(new):
        return list(exact_findings(profile(op("x", 1.0, facts=stored)), profile(op("x", 1.0, facts=new))))

    assert judged(facts) == []
    assert len(judged(replace(facts, **{fact: (*counts[:-1], ("f32[7]", 1))}))) == 1


def test_a_file_without_facts_has_operators_without(tmp_path):
    assert back(tmp_path, None) is None
    assert back(tmp_path, OpFacts()) is None


def test_the_order_of_a_hand_sorted_line_does_not_matter(tmp_path):
    path = tmp_path / "a.yaml"
    text = text_of(x=OpFacts(kernels=(("b", 2), ("a", 1))))
    path.write_text(text.replace("{b: 2, a: 1}", "{a: 1, b: 2}"), encoding="utf-8")
    assert storage.load(path).profile.by_name()["x"].facts.kernels == (("b", 2), ("a", 1))


@pytest.mark.parametrize("nodes", [None, 0, 12])
def test_the_nodes_of_autograd_read_back(tmp_path, nodes):
    path = tmp_path / "a.yaml"
    text = rendering.render(baseline(replace(profile(op("aten::mm", 2.0)), autograd_nodes=nodes)), 10)
    path.write_text(text, encoding="utf-8")
    assert storage.load(path).profile.autograd_nodes == nodes
    assert ("autograd_nodes" in text) == (nodes is not None)
