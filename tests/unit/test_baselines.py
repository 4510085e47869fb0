from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from records import baseline, on_device, op, profile, step

from pytest_opcost.baselines import MOST_SESSIONS, Session, baseline_path, new_baseline, quoted, with_session

ROOT = Path("baselines")
IDS = [
    "tests/test_a.py::test_b[cpu-16]",
    "tests/test_a.py::test_B[cpu-16]",
    "tests-test_a.py::test_b[cpu-16]",
    "tests/test_a.py::test_b[cpu 16]",
    "tests/test_a.py::test_b[cpu/16]",
    "tests/test_a.py::test_b[cpu:16]",
    "tests/test_a.py::test_b[cpu\\16]",
    "tests/test_a.py::TestB::test_b",
    "tests/test_ä.py::test_b",
    "tests/test_.py::test_b",
    "тест",
    "проба",
    "[]",
    "..",
    "../../etc/passwd",
    "-rf",
    "x" * 1000,
    "x" * 999 + "y",
    "a/" * 500,
    "é" * 1000,
]


@pytest.mark.parametrize("test", IDS)
def test_a_file_name_is_safe_everywhere(test):
    path = baseline_path(ROOT, "machine", test, None)
    assert path.parent == ROOT / "machine"
    assert re.fullmatch(r"[a-z0-9._-]+\.yaml", path.name)
    assert len(path.name) < 200
    assert path == baseline_path(ROOT, "machine", test, None)


def test_a_file_name_does_not_begin_like_an_option_or_a_hidden_file():
    for test in IDS:
        name = baseline_path(ROOT, "machine", test, None).name
        assert name[0] not in "-.", (test, name)


def test_file_names_are_distinct_even_where_case_does_not_count():
    names = {baseline_path(ROOT, "machine", test, None).name.lower() for test in IDS}
    assert len(names) == len(IDS)


def test_a_file_name_can_be_read_and_does_not_change_between_versions():
    path = baseline_path(ROOT, "machine", "tests/test_a.py::test_b[cpu-16]", None)
    assert path.name == "tests-test_a.py-test_b-cpu-16-c3628ffb.yaml"


def test_a_long_id_keeps_its_end_which_tells_more():
    name = baseline_path(ROOT, "machine", "folder/" * 100 + "test_a.py::test_b[cpu-16]", None).name
    assert "test_a.py-test_b-cpu-16-" in name


def test_checks_of_one_test_have_files_of_their_own():
    names = [baseline_path(ROOT, "machine", "test_a", check).name for check in (None, "encoder", "decoder", "Decoder")]
    assert len(set(names)) == 4
    assert names[1].startswith("test_a-encoder-")


def test_a_new_baseline_is_made_of_all_rounds():
    rounds = [step(), step(convolution=1.1), step(convolution=1.2)]
    baseline = new_baseline(ROOT / "a.yaml", "test_a", "encoder", rounds, ["conv/addmm", "attention/addmm"])
    assert (baseline.test, baseline.check, baseline.path) == ("test_a", "encoder", ROOT / "a.yaml")
    assert baseline.recorded == date.today().isoformat()
    assert baseline.profile.by_name()["aten::mkldnn_convolution"].samples == pytest.approx((400, 440, 480))
    assert baseline.ratios.keys() == {"conv/addmm"}
    assert baseline.ratios["conv/addmm"].value == pytest.approx(2.2)
    assert baseline.ratios["conv/addmm"].spread == pytest.approx(0.2)


def test_a_new_baseline_has_a_ratio_for_each_phase():
    rounds = [profile(op("aten::conv2d", 40, forward=0.5), op("aten::mm", 40, forward=0.25))] * 2
    ratios = new_baseline(ROOT / "a.yaml", "test_a", None, rounds, ["conv/addmm"]).ratios
    assert {name: (one.value, one.spread) for name, one in ratios.items()} == {
        "conv/addmm": (1, 0),
        "conv/addmm forward": (2, 0),
    }


def session(*rounds, ratios=("conv/addmm",), recorded="2026-11-27"):
    one = new_baseline(ROOT / "a.yaml", "test_a", None, rounds, ratios)
    return replace(one, recorded=recorded, sessions=tuple(replace(it, recorded=recorded) for it in one.sessions))


def samples(baseline, name="aten::addmm"):
    return baseline.profile.by_name()[name].samples


def test_a_new_baseline_is_one_session():
    one = new_baseline(ROOT / "a.yaml", "test_a", None, [replace(step(), load=x) for x in (0.1, 0.9, 0.2)], [])
    assert one.sessions == (Session(date.today().isoformat(), 3, 0.2),)
    assert (one.reference.sessions, one.reference.profile, one.reference.ratios) == ((3,), one.profile, {})


@pytest.mark.parametrize("clock", [lambda cost: cost, on_device], ids=["host", "device"])
def test_a_further_session_s_rounds_are_joined_and_costs_are_medians_of_all(clock):
    old = session(*(clock(step(addmm=f)) for f in (1.5, 1.1)), recorded="2026-11-26")
    new = session(*(clock(step(addmm=f, convolution=1.1)) for f in (1.2, 1.3, 1.4)))
    both = with_session(old, new)
    assert samples(both) == pytest.approx((300, 220, 240, 260, 280))
    row = both.profile.by_name()["aten::addmm"]
    assert both.profile.cost_us(row) == pytest.approx(260)
    assert [(one.recorded, one.rounds) for one in both.sessions] == [("2026-11-26", 2), ("2026-11-27", 3)]
    assert (both.recorded, both.reference.sessions) == ("2026-11-27", (2, 3))
    assert both.profile.total_us == pytest.approx(sum(both.profile.cost_us(one) for one in both.profile.ops))
    assert row.share == pytest.approx(260 / both.profile.total_us)


def test_ratios_are_those_of_the_joined_rounds():
    old = session(step(addmm=1.25), step(addmm=1.25))
    both = with_session(old, session(step(convolution=2.0), ratios=("conv/addmm", "pool/total")))
    assert both.ratios["conv/addmm"].value == pytest.approx(400 / 250)
    # One that is declared only now too: a file agrees with itself.
    assert {form: one.value for form, one in both.ratios.items()} == pytest.approx(
        {form: both.profile.ratio(form) for form in ("conv/addmm", "pool/total")}
    )
    spread = session(step(), step(addmm=1.25))
    assert with_session(spread, session(step())).ratios["conv/addmm"].spread == pytest.approx(0.25)


def test_a_ratio_that_is_not_declared_any_more_goes():
    assert with_session(session(step()), session(step(), ratios=())).ratios == {}


def test_the_oldest_sessions_go_where_there_are_too_many():
    joined = session(step(addmm=1.5), step(addmm=1.6), recorded="2026-01-01")
    for day in range(1, MOST_SESSIONS + 1):
        joined = with_session(joined, session(step(addmm=1 + day / 100), recorded=f"2026-02-{day:02}"))
    assert [one.recorded for one in joined.sessions] == [f"2026-02-{day:02}" for day in range(1, MOST_SESSIONS + 1)]
    assert samples(joined) == pytest.approx([200 * (1 + day / 100) for day in range(1, MOST_SESSIONS + 1)])


def test_an_operator_that_is_new_or_has_no_samples_for_every_round_keeps_its_own_cost_alone():
    joined = with_session(session(step()), session(profile(*step().ops, op("aten::add", 50.0))))
    assert (samples(joined, "aten::add"), joined.profile.by_name()["aten::add"].self_host_us) == ((), 50)
    gone = with_session(session(profile(*step().ops, op("aten::add", 50.0))), session(step()))
    assert "aten::add" not in gone.profile.by_name()
    # Missing in one round: its samples could not be told apart from those of other rounds.
    fewer = profile(*(one for one in step().ops if one.name != "aten::addmm"))
    assert samples(with_session(session(step()), session(step(), fewer))) == ()
    many = session(*[step()] * 3)
    for _ in range(MOST_SESSIONS):
        many = with_session(many, session(step(), fewer))
    assert samples(many) == ()


def test_an_operator_that_lost_its_samples_gets_them_back_once_no_session_lacks_them():
    joined = session(step())
    assert samples(with_session(joined, session(step())), "aten::addmm") != ()
    bare = replace(
        joined, profile=replace(joined.profile, ops=tuple(replace(one, samples=()) for one in joined.profile.ops))
    )
    assert samples(with_session(bare, session(step()))) == ()


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("a.py::b[x y]", '"a.py::b[x y]"'),
        ('b["]', '"b[\\"]"'),
        ("b[$HOME]", '"b[\\$HOME]"'),
        ("b[`id`]", '"b[\\`id\\`]"'),
        ("b[\\n]", '"b[\\\\n]"'),
    ],
)
def test_quoted_is_safe_in_a_shell(test, expected):
    assert quoted(test) == expected


@pytest.mark.parametrize(
    ("sessions", "told"),
    [
        ((5,), "in one session of 5 rounds, which sees less than several do"),
        ((1,), "in one session of 1 round, which sees less than several do"),
        ((5, 3), "in 2 sessions of 8 rounds together"),
    ],
)
def test_when_it_was_recorded_and_of_how_much_it_is(sessions, told):
    one = replace(baseline(), sessions=tuple(Session("2026-11-27", rounds) for rounds in sessions))
    assert (one.rounds, one.history) == (sum(sessions), f"recorded 2026-11-27 {told}")
