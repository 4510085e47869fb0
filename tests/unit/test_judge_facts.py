"""What the exact facts of single operators say: which differ, in which words, and where they may be compared."""

from __future__ import annotations

from dataclasses import replace

import pytest
from records import CPU, op, profile, reference

from pytest_opcost.facts import OpFacts, Place, brief
from pytest_opcost.judge import Kind, Outcome, Rules
from pytest_opcost.judge.decide import judge, judge_elsewhere
from pytest_opcost.judge.exact import exact_findings, exactly_changed
from pytest_opcost.judge.facts import flops, place_in_words, size
from pytest_opcost.judge.words import headline

FACTS = OpFacts(
    inputs=(("f32[128] f32[16,9216] f32[9216,128]", 1), ("f32[10] f32[16,128] f32[128,10]", 1)),
    flops=37_789_696,
    kernels=(("mkl sgemm", 2),),
    syncs=1,
    alloc_bytes=8832,
    places=(Place("forward", "fc1", "models.py:36"),),
)
WIDER = (("f32[10] f32[16,256] f32[256,10]", 1), ("f32[256] f32[16,9216] f32[9216,256]", 1))
OTHERS = {
    "inputs": WIDER,
    "flops": 75_579_392,
    "kernels": (("mkl sgemm", 1), ("mkl sgemv", 1)),
    "syncs": 2,
    "alloc_bytes": 17_024,
}
ELSEWHERE = replace(CPU, device_name="Other CPU", capability="aarch64 NEON")
RULES = Rules({}, tolerance=0.2)


def addmm(facts=FACTS, us=1000.0, environment=CPU, **more):
    return profile(op("aten::addmm", us, calls=2, facts=facts, **more), environment=environment)


def changed(**facts):
    return addmm(replace(FACTS, **facts))


def told(old, new):
    findings = exact_findings(old, new)
    assert all(finding.fails and finding.change == 0 for finding in findings)
    return [(finding.kind, finding.message) for finding in findings]


def test_equal_facts_are_no_news():
    assert told(addmm(), addmm()) == []


@pytest.mark.parametrize(
    ("fact", "kind", "words"),
    [
        (
            "inputs",
            Kind.INPUTS,
            "takes f32[10] f32[16,256] f32[256,10], f32[256] f32[16,9216] f32[9216,256] "
            "(was f32[128] f32[16,9216] f32[9216,128], f32[10] f32[16,128] f32[128,10])",
        ),
        ("flops", Kind.FLOPS, "computes 75.58 MFLOP a step (was 37.79 MFLOP)"),
        ("kernels", Kind.KERNELS, "runs mkl sgemv (was mkl sgemm)"),
        ("syncs", Kind.SYNCS, "waits for the device 2 times a step (was 1)"),
        ("alloc_bytes", Kind.MEMORY, "allocates 17.02 kB a step (was 8.832 kB)"),
    ],
)
def test_each_fact_is_told_with_both_values(fact, kind, words):
    assert told(addmm(), changed(**{fact: OTHERS[fact]})) == [(kind, f"aten::addmm (addmm) {words}")]


@pytest.mark.parametrize(("fact", "was", "now"), [("flops", 37_789_696, 75_579_392), ("syncs", 1, 2)])
def test_a_finding_carries_the_figures(fact, was, now):
    (finding,) = exact_findings(addmm(), changed(**{fact: now}))
    assert (finding.op, finding.family, finding.baseline, finding.current) == ("aten::addmm", "addmm", was, now)
    (finding,) = exact_findings(addmm(), changed(inputs=WIDER))
    assert (finding.op, finding.baseline, finding.current) == ("aten::addmm", None, None)


def test_the_flops_are_told_with_the_inputs_that_explain_them():
    ((kind, message),) = told(addmm(), changed(inputs=WIDER, flops=75_579_392))
    assert kind is Kind.INPUTS
    assert message.endswith("f32[128,10]); 75.58 MFLOP a step (was 37.79 MFLOP)")


def test_an_operator_has_one_finding_however_many_facts_differ():
    for first, kind in (
        ("inputs", Kind.INPUTS),
        ("flops", Kind.FLOPS),
        ("kernels", Kind.KERNELS),
        ("syncs", Kind.SYNCS),
    ):
        facts = list(OTHERS)
        rest = {fact: OTHERS[fact] for fact in facts[facts.index(first) :]}
        ((found, _),) = told(addmm(), changed(**rest))
        assert found is kind


def test_only_what_differs_is_told_and_no_more_than_two_of_it():
    was = replace(FACTS, kernels=(("same", 3), ("fewer", 3)))
    now = replace(FACTS, kernels=(("same", 3), ("fewer", 1), ("a", 1), ("b", 4), ("c", 1)))
    ((_, message),) = told(addmm(was), addmm(now))
    assert message == "aten::addmm (addmm) runs a, b x4 and 1 more (was fewer x2)"
    assert told(addmm(replace(FACTS, kernels=())), addmm())[0][1].endswith("runs mkl sgemm x2 (was nothing)")
    assert told(addmm(), addmm(replace(FACTS, kernels=())))[0][1] == "aten::addmm (addmm) no longer runs mkl sgemm x2"


@pytest.mark.parametrize("fact", OTHERS)
@pytest.mark.parametrize("side", ["old", "new"])
def test_a_fact_that_varies_is_not_compared_and_the_others_are(fact, side):
    marked = replace(FACTS, varying=(fact,))
    old, new = addmm(marked if side == "old" else FACTS), replace(marked, varying=(fact,) if side == "new" else ())
    assert told(old, addmm(replace(new, **{fact: OTHERS[fact]}))) == []
    other = "syncs" if fact != "syncs" else "flops"
    assert len(told(old, addmm(replace(new, **{fact: OTHERS[fact], other: OTHERS[other]})))) == 1


def test_an_operator_that_varies_is_not_compared():
    assert told(addmm(varying=True), changed(syncs=2)) == []


def test_an_operator_whose_calls_differ_gets_no_second_finding():
    more = profile(op("aten::addmm", 1000.0, calls=3, facts=replace(FACTS, inputs=WIDER)))
    assert [kind for kind, _ in told(addmm(), more)] == [Kind.CALLS]
    assert [kind for kind, _ in told(addmm(), profile(op("aten::mm", facts=FACTS)))] == [Kind.BACKEND]
    assert [kind for kind, _ in told(addmm(), profile(op("aten::add", facts=FACTS)))] == [Kind.GONE, Kind.NEW]


@pytest.mark.parametrize("fact", ["inputs", "kernels"])
def test_digests_are_compared_on_either_side(fact):
    short, other = replace(FACTS, **{fact: brief(getattr(FACTS, fact))}), replace(FACTS, **{fact: OTHERS[fact]})
    words = "takes other input shapes or types" if fact == "inputs" else "runs other kernels"
    for one, two in ((short, FACTS), (FACTS, short), (short, short)):
        assert told(addmm(one), addmm(two)) == []
    start = f"aten::addmm (addmm) {words} than before"
    both = "(recorded as a digest: --opcost-base=COMMIT shows both sides)"
    then, now = (", ".join(name for name, _ in counts) for counts in (getattr(FACTS, fact), OTHERS[fact]))
    then = then.replace("sgemm", "sgemm x2")
    digested = replace(other, **{fact: brief(OTHERS[fact])})
    assert [message for _, message in told(addmm(short), addmm(other))] == [f"{start}: now {now} {both}"]
    assert [message for _, message in told(addmm(), addmm(digested))] == [f"{start}: was {then} {both}"]
    assert [message for _, message in told(addmm(short), addmm(digested))] == [f"{start} {both}"]


def test_of_a_digest_it_is_known_how_many_there_were():
    short = replace(FACTS, kernels=brief(FACTS.kernels))
    ((_, message),) = told(addmm(short), changed(kernels=(("mkl sgemm", 3),)))
    assert " runs other kernels than before, 3 a step (was 2): now mkl sgemm x3 (" in message
    ((_, message),) = told(addmm(short), changed(kernels=()))
    assert " than before, 0 a step (was 2): now nothing (" in message


def test_a_headline_leaves_out_what_is_said_of_a_digest():
    (found,) = exact_findings(addmm(replace(FACTS, inputs=brief(FACTS.inputs))), changed(inputs=WIDER))
    assert headline([found]).startswith("aten::addmm takes other input shapes or types than before: now f32[10]")
    assert "digest" not in headline([found])


@pytest.mark.parametrize(("old", "new"), [(None, FACTS), (FACTS, None), (None, None)])
def test_a_profile_without_facts_is_not_compared(old, new):
    assert told(addmm(old), addmm(new)) == []


def test_an_operator_without_facts_in_a_profile_with_some_has_empty_ones():
    old = profile(op("aten::mm", facts=FACTS), op("aten::add"))
    new = profile(op("aten::mm", facts=FACTS), op("aten::add", facts=OpFacts(syncs=1)))
    assert [message for _, message in told(old, new)] == [
        "aten::add (elementwise) waits for the device 1 time a step (was 0)"
    ]
    assert told(old, profile(op("aten::mm", facts=FACTS), op("aten::add", facts=OpFacts()))) == []


def test_waiting_outside_of_operators_is_told_though_runtime_calls_are_no_operators():
    waits = op("cudaDeviceSynchronize", facts=OpFacts(syncs=1))
    old, new = profile(op("aten::mm", facts=FACTS)), profile(op("aten::mm", facts=FACTS), waits)
    message = "cudaDeviceSynchronize (wait) waits for the device 1 time a step (was 0)"
    assert told(old, new) == [(Kind.SYNCS, message)]
    assert told(new, old) == [(Kind.SYNCS, message.replace("1 time a step (was 0)", "0 times a step (was 1)"))]


def test_views_of_other_shapes_follow_from_the_operators_that_take_them():
    def net(inputs, *names):
        return profile(*(op(name, facts=OpFacts(inputs=inputs)) for name in names), op("aten::add", facts=FACTS))

    def changed_ones(*names):
        return {finding.op for finding in exact_findings(net(FACTS.inputs, *names), net(WIDER, *names))}

    assert changed_ones("aten::t", "aten::mm", "aten::fill_", "AddmmBackward0") == {"aten::mm", "aten::fill_"}
    assert changed_ones("aten::t", "AddmmBackward0") == {"aten::t", "AddmmBackward0"}


def elsewhere(capability, **facts):
    new = addmm(replace(FACTS, **facts), environment=replace(ELSEWHERE, capability=capability))
    return judge_elsewhere(addmm(), new)


@pytest.mark.parametrize("fact", ["inputs", "flops", "syncs"])
@pytest.mark.parametrize("capability", [CPU.capability, ELSEWHERE.capability])
def test_elsewhere_inputs_flops_and_waiting_are_compared(fact, capability):
    verdict = elsewhere(capability, **{fact: OTHERS[fact]})
    assert verdict.outcome is Outcome.DRIFTED
    assert len(verdict.failing) == 1


def test_elsewhere_kernels_are_compared_where_the_capability_is_the_same():
    (finding,) = elsewhere(CPU.capability, kernels=OTHERS["kernels"]).findings
    assert (finding.kind, finding.fails) == (Kind.KERNELS, True)
    assert elsewhere(ELSEWHERE.capability, kernels=OTHERS["kernels"]).findings == ()


@pytest.mark.parametrize("capability", [CPU.capability, ELSEWHERE.capability])
def test_elsewhere_allocations_are_never_compared(capability):
    verdict = elsewhere(capability, alloc_bytes=1)
    assert (verdict.outcome, verdict.findings) == (Outcome.NOT_JUDGED, ())


@pytest.mark.parametrize(
    ("fact", "timed"), [("inputs", False), ("flops", False), ("kernels", False), ("syncs", True), ("alloc_bytes", True)]
)
def test_an_operator_that_does_other_work_is_not_compared_by_time(fact, timed):
    pytest.importorskip("scipy")
    steady = op("aten::relu", 5000.0, samples=(5000.0, 5010.0), facts=OpFacts())
    old = profile(op("aten::addmm", 1000.0, calls=2, samples=(1000.0, 1001.0), facts=FACTS), steady)
    facts = replace(FACTS, **{fact: OTHERS[fact]})
    new = profile(op("aten::addmm", 3000.0, calls=2, samples=(3000.0, 3001.0), facts=facts), steady)
    assert exactly_changed(exact_findings(old, new), old, new) == (set() if timed else {"aten::addmm"})
    kinds = [finding.kind for finding in judge(reference(old, 2), [new], RULES).findings if finding.op == "aten::addmm"]
    assert len(kinds) == 1 + timed
    assert (Kind.DEARER in kinds) is timed


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ((Place("forward", "fc1", "m.py:3"),), ", in fc1 at m.py:3"),
        ((Place("forward", "fc1", "m.py:3"), Place("backward", "fc1", "m.py:3")), ", in fc1 at m.py:3"),
        ((Place("forward", "fc1"),), ", in fc1"),
        ((Place("optimizer", "", "train.py:9"),), ", at train.py:9"),
        ((Place("backward"),), ""),
        ((Place("forward", "fc1", "m.py:3"), Place("forward", "fc2", "m.py:3")), ""),
        ((Place("forward", "fc1", "m.py:3"), Place("forward", "fc1", "m.py:4")), ""),
        ((), ""),
    ],
)
def test_a_place_is_told_if_it_is_one(places, words):
    assert place_in_words(op("aten::mm", facts=OpFacts(places=places))) == words
    assert place_in_words(op("aten::mm")) == ""


def test_the_place_stands_behind_a_change_of_calls():
    def calls(count, line):
        facts = OpFacts(syncs=1, places=(Place("forward", "head", line),))
        return profile(op("aten::mm", calls=1, facts=FACTS), op("aten::add", calls=count, facts=facts))

    none = profile(op("aten::mm", calls=1, facts=FACTS))
    assert [message for _, message in told(none, calls(2, "m.py:7"))] == [
        "aten::add (elementwise) is new: 2 calls a step (was 0), in head at m.py:7"
    ]
    assert [message for _, message in told(calls(2, ""), none)] == [
        "aten::add (elementwise) is gone: 0 calls a step (was 2), in head"
    ]
    assert [message for _, message in told(calls(2, ""), calls(3, "m.py:7"))] == [
        "aten::add (elementwise) is called 3 times a step (was 2), in head at m.py:7"
    ]


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (4_718_592, "4.719 MB"), (10**9, "1 GB"), (10**16, "1e+04 TB")],
)
def test_figures_are_scaled_for_reading(count, words):
    assert size(count) == words
    assert flops(count) == words.replace("B", "FLOP")
