"""The terminal's words, as a reader sees them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest
from records import CPU, CUDA, finding, on_device, op, profile, result, step

from pytest_opcost.costs import ColdStep
from pytest_opcost.judge import Compared, Kind, Outcome
from pytest_opcost.options import Missing, Options, Update
from pytest_opcost.report.terminal import Summary, header_lines, summary_lines
from pytest_opcost.report.wrapping import wrapped

ROOT = Path("/project")


def summary(*results, **more):
    values = {"stale": (), "pruned": False, "problems": (), "reports": (), "verbosity": 0, "root": ROOT, **more}
    lines = summary_lines(Summary(results, **values))
    assert all(line == line.rstrip() and "\n" not in line for line in lines)
    return "\n".join(lines) + "\n"


def assert_narrow(text):
    assert [line for line in text.splitlines() if len(line) > 80] == []


def header(*environments, **more):
    values = {
        "enabled": True, "root": ROOT, "devices": ("cpu",), "batch_sizes": (1,), "baselines": ROOT / "baselines",
        "mnist": None, "cache": ROOT, "missing": Missing.RECORD, "update": Update.NONE, "prune": False, "threads": 1,
        "quiet": True, "rounds": 5, "confirm": 12, "json": None, **more,
    }  # fmt: skip
    return header_lines(Options(**values), environments, ROOT)


def test_the_header_says_what_is_measured_on_and_what_is_compared_with():
    assert header(replace(CPU, threads=2)) == [
        "opcost: compare; without a baseline: record",
        "opcost: cpu: Test CPU 9000 (x86_64 AVX2), torch 2.11.0+cpu, 2 threads, quiet",
        "        allocator",
        "opcost: machine cpu-test-cpu-9000-2-threads-torch2.11",
        "opcost: baselines baselines",
    ]


def test_the_header_names_every_device_and_a_folder_elsewhere():
    lines = header(CPU, CUDA, baselines=Path("/elsewhere"), missing=Missing.FAIL)
    assert [line for line in lines if "machine" in line] == [
        f"opcost: machine {environment.machine_key}" for environment in (CPU, CUDA)
    ]
    assert " 1 thread, " in lines[1]
    assert (lines[0], lines[-1]) == ("opcost: compare; without a baseline: fail", "opcost: baselines /elsewhere")


@pytest.mark.parametrize(
    ("update", "words"),
    [(Update.MISSING, "compare, and record what is missing"), (Update.ALL, "record every measured test anew")],
)
def test_the_header_says_what_is_recorded(update, words):
    assert header(update=update)[0].startswith(f"opcost: {words}; ")


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ({"base": "HEAD~1"}, "HEAD~1"),
        ({"base_python": Path("other/python")}, "other/python"),
        ({"base": "main", "base_python": Path("other/python")}, "main, run by other/python"),
    ],
)
def test_the_header_says_what_is_compared_with_instead_of_baselines(base, words):
    lines = header(CPU, **base)
    assert " ".join(" ".join(lines).split()).startswith(
        f"opcost: compare with {words}, measured beside it in 5 pairs of processes, all before the first test's verdict"
    )
    assert not any("baseline" in line for line in lines)


def test_no_header_where_nothing_is_measured():
    assert header(enabled=False) == []


def test_one_line_a_test_and_its_figures():
    assert summary(result()) == dedent("""\
        passed  tests/test_a.py::test_step[cpu-16]
            step 1.23 ms, conv/addmm 2 (was 1.95)
        opcost: 1 passed
        """)


def test_a_ratio_without_a_baseline_and_a_named_check():
    text = summary(result(check="encoder", ratios={"conv/addmm": 2.0, "copy/total": 0.123}, baseline_ratios={}))
    assert text.splitlines()[:2] == [
        "passed  tests/test_a.py::test_step[cpu-16] (encoder)",
        "    step 1.23 ms, conv/addmm 2, copy/total 0.123",
    ]


def test_without_a_ratio_the_dearest_operator_says_what_was():
    compared = (
        Compared("other", 9e3, 9e3, 0, 1),
        Compared("aten::relu", 90, 100, 0, 1),
        Compared("aten::addmm", 190, 200, 0, 1),
    )
    one = result(ratios={}, baseline_ratios={})
    one = replace(one, verdict=replace(one.verdict, compared=compared))
    for verbosity in (0, 1):
        assert "    step 1.23 ms, aten::addmm 200 us (was 190 us)\n" in summary(one, verbosity=verbosity)
    new = replace(one, ratios={"conv/addmm": 2.0})
    assert "    step 1.23 ms, conv/addmm 2, aten::addmm 200 us (was 190 us)\n" in summary(new)
    told = replace(new, baseline_ratios={"conv/addmm": 1.95})
    assert "    step 1.23 ms, conv/addmm 2 (was 1.95)\n" in summary(told)


def test_a_long_id_is_not_broken():
    test = f"tests/test_a.py::test_{'long_' * 20}[cpu-16]"
    assert f"passed\n    {test}\n" in summary(result(test=test))


def test_a_path_too_long_for_its_line_keeps_its_indent():
    path = f"baselines/{'a-long-machine-name-' * 4}/a.yaml"
    lines = summary(result(step(), Outcome.RECORDED, baseline=path, changes=("new",), text="schema: 1")).splitlines()
    assert lines[2:4] == [f"    {path}:", "      new"]


def test_findings_are_told_in_full_where_the_test_did_not_fail():
    findings = [finding(Kind.NOISE, f"op{index}") for index in range(5)]
    cheaper = finding(Kind.CHEAPER, "aten::mm", message="aten::mm is cheaper " + "by far " * 10)
    assert summary(result(step(), Outcome.INCONCLUSIVE, cheaper, *findings)) == dedent("""\
        inconclusive  tests/test_a.py::test_step[cpu-16]
            step 1.23 ms, conv/addmm 2 (was 1.95)
            - aten::mm is cheaper by far by far by far by far by far by far by far by
              far by far by far
              bank it: pytest "tests/test_a.py::test_step[cpu-16]"
                --opcost-update-baselines
            - op0 moved
            - op1 moved
            - op2 moved
            - op3 moved
            - op4 moved
        opcost: 1 inconclusive
        """)


def test_against_a_base_there_is_nothing_to_bank():
    assert "bank it" not in summary(result(step(), Outcome.PASSED, finding(Kind.CHEAPER), baseline=""))


def test_a_finding_of_several_lines_keeps_them():
    message = "not judged: it failed:\n  model.py:3: in f\n\nE   ImportError: " + "no way " * 12
    assert summary(result(step(), Outcome.NOT_JUDGED, finding(Kind.UNKNOWN, message=message))).splitlines()[2:6] == [
        "    - not judged: it failed:",
        "        model.py:3: in f",
        "      E   ImportError: no way no way no way no way no way no way no way no way",
        "        no way no way no way no way",
    ]


def test_a_failed_test_has_told_its_findings_already():
    findings = [finding(Kind.DEARER, f"op{index}") for index in range(5)]
    text = summary(result(step(), Outcome.DRIFTED, *findings))
    assert text.splitlines()[0] == "DRIFTED  tests/test_a.py::test_step[cpu-16]"
    assert text.splitlines()[2:] == [
        "    - op0 moved",
        "    - op1 moved",
        "    - op2 moved",
        "    - and 2 more, in the test's own message",
        "opcost: 1 drifted",
    ]
    perhaps = finding(Kind.NOISE, "aten::perhaps", change=-0.1)
    assert "aten::perhaps" not in summary(result(step(), Outcome.DRIFTED, findings[0], perhaps))
    reported = summary(result(step(), Outcome.DRIFTED, *findings, perhaps, reported_only=True))
    assert "aten::perhaps" not in reported
    accept = '    accept it: pytest "tests/test_a.py::test_step[cpu-16]"\n      --opcost-update-baselines'
    assert f"    - op4 moved\n{accept}\nopcost: 1 drifted" in reported


def test_a_recording_says_what_it_changes_and_that_it_belongs_in_git():
    recorded = result(step(), Outcome.RECORDED, changes=("step total -5.0 %", "new: aten::mm"), text="schema: 1")
    text = summary(replace(recorded, verdict=replace(recorded.verdict, measurements=5)))
    assert text.splitlines()[2:] == [
        "    baselines/machine/a.yaml: step total -5.0 %; new: aten::mm",
        "opcost: 1 recorded",
        "Recorded baselines belong in git, so that the next run can compare with them.",
    ]


def test_a_recording_of_few_rounds_says_what_it_cannot_do():
    for rounds, weak in ((1, True), (3, True), (4, False)):
        recorded = result(step(), Outcome.RECORDED, text="schema: 1")
        recorded = replace(recorded, verdict=replace(recorded.verdict, measurements=rounds))
        assert ("Those of fewer than 4 rounds" in summary(recorded)) is weak


def test_a_recording_on_a_busy_machine_says_so():
    for load, busy in ((0.9, False), (3.4, True)):
        recorded = result(replace(step(), load=load), Outcome.RECORDED, text="schema: 1")
        told = " ".join(summary(recorded).split())
        assert ("more work than cores, and it was recorded in between" in told) is busy
        both = " ".join(summary(recorded, result(step(), Outcome.RECORDED, text="schema: 1")).split())
        assert ("1 of 2 was recorded in between" in both) is busy


def test_a_comparison_with_another_machine_says_so():
    origin = "recorded 2026-11-27 on that-machine: exact facts only"
    several = [result(step(), Outcome.NOT_JUDGED, origin=origin, test=f"test_{name}.py::test") for name in "ab"]
    lines = summary(*several).splitlines()
    assert (
        lines[2:4]
        == lines[6:8]
        == [
            "    cost not judged: compared with a baseline recorded 2026-11-27 on",
            "      that-machine: exact facts only",
        ]
    )
    assert lines[8:] == [
        "opcost: 2 not judged",
        "Costs that were not judged: record this machine's own baselines with",
        "  --opcost-update-missing.",
    ]
    assert "cost not judged" not in summary(result(step(), Outcome.NOT_JUDGED, compared=False))


def test_the_table_of_a_test():
    cost = replace(step(), cold=ColdStep(45678.9, 100.0, 0.0, (("aten::addmm", 98.7, 0.0), ("aten::empty", 1.0, 0.0))))
    one = seeing(result(cost, top=3, origin="recorded 2026-11-27 in one session of 5 rounds"))
    assert summary(one, verbosity=1) == dedent("""\
        tests/test_a.py::test_step[cpu-16]: passed, same as the baseline
        operator                       family      calls    host us    share
        -----------------------------  --------  -------  ---------  -------
        aten::mkldnn_convolution       conv            1      400.0   40.0 %
        aten::addmm                    addmm           1      200.0   20.0 %
        aten::max_pool2d_with_indices  pool            1      150.0   15.0 %
        other                          other           3      250.0   25.0 %
        step total                                          1,000.0  100.0 %
            step 1.23 ms, conv/addmm 2 (was 1.95)
            compared with a baseline recorded 2026-11-27 in one session of 5 rounds
            would have looked closer at a change of: addmm 12 %, conv/addmm 5.0 %
            first step, cold: 45.7 ms (warm 1.23 ms); aten::addmm 98.7 us (warm 200 us);
              aten::empty 1 us

        opcost: 1 passed
        """)


def seeing(one, addmm=0.12):
    """The same result, of which it is known what it would have seen."""
    seen = (("aten::addmm", addmm), ("conv/addmm", 0.05))
    return replace(one, verdict=replace(one.verdict, seen=seen))


def test_what_only_a_busy_machine_would_not_have_seen_is_told_as_a_factor():
    told = "would have looked closer at a change of: addmm 128 times, conv/addmm 5.0 %"
    assert told in summary(seeing(result(), addmm=127.0), verbosity=1)


def first_line(one):
    return summary(one, verbosity=1).splitlines()[0].partition(": ")[2]


def test_the_same_is_what_was_compared_and_did_not_move():
    assert first_line(seeing(result(baseline=""))) == "passed, same as the base"
    assert first_line(result()) == "passed"  # by what is exact alone
    assert first_line(seeing(result(step(), Outcome.PASSED, finding(Kind.CHEAPER)))) == "passed"
    assert first_line(seeing(result(step(), Outcome.INCONCLUSIVE))) == "inconclusive"


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.DRIFTED, Outcome.INCONCLUSIVE])
def test_every_comparison_says_what_it_would_have_seen(outcome):
    told = "would have looked closer at a change of: addmm 12 %, conv/addmm 5.0 %"
    assert told in summary(seeing(result(step(), outcome)), verbosity=1)
    assert told not in summary(seeing(result(step(), outcome)))
    assert "    nothing could be compared by time\n" in summary(result(step(), outcome), verbosity=1)


@pytest.mark.parametrize("outcome", [Outcome.RECORDED, Outcome.NOT_JUDGED])
def test_where_nothing_was_compared_there_is_nothing_to_see(outcome):
    text = summary(result(step(), outcome), verbosity=1)
    assert "could be compared" not in text
    assert "compared with a baseline recorded" not in text


def test_against_a_base_it_is_said_what_that_was():
    text = summary(seeing(result(baseline="", origin="HEAD~1 (1234567), measured beside it")), verbosity=1)
    assert "    compared with HEAD~1 (1234567), measured beside it\n" in text


def configurations(*outcomes):
    """One check in as many batch sizes."""
    return [
        result(step(), outcome, test=f"tests/test_a.py::test_step[cpu-{2**power}]", batch_size=2**power)
        for power, outcome in enumerate(outcomes)
    ]


@pytest.mark.parametrize("verbosity", [0, 1])
def test_tables_of_several_configurations_stand_apart(verbosity):
    lines = summary(*configurations(Outcome.PASSED, Outcome.PASSED), verbosity=verbosity).splitlines()
    title = lines.index("tests/test_a.py::test_step")
    assert lines[title - 1] == ""
    assert lines[title - 2] != ""
    assert lines[-2:] == ["", "opcost: 2 passed"]


def test_quiet_leaves_out_what_only_passed_and_what_stands_side_by_side():
    drifted = result(step(), Outcome.DRIFTED, finding(), test="tests/test_a.py::test_four", batch_size=4)
    uneventful = configurations(Outcome.PASSED, Outcome.RECORDED)
    remarked = result(replace(step(), remarks=("the card was throttled",)), test="tests/test_a.py::test_eight")
    lines = summary(*uneventful, drifted, remarked, verbosity=-1).splitlines()
    assert [line for line in lines if line[0] != " "] == [
        f"DRIFTED  {drifted.subject.title}", f"passed  {remarked.subject.title}",
        "opcost: 2 passed, 1 drifted, 1 recorded",
    ]  # fmt: skip
    assert "    - the card was throttled" in lines


def test_quiet_names_the_test_whose_baseline_was_not_written():
    left = result(step(), Outcome.NOT_JUDGED, changes=("not written, since its file cannot be",))
    held = result(step(), changes=("no round was added, since none was as calm as the baseline's",), check="held")
    written = result(step(), Outcome.RECORDED, changes=("new",), text="schema: 1", check="written")
    lines = summary(left, held, written, verbosity=-1).splitlines()
    assert [line for line in lines if line[0] != " "][:2] == [
        f"not judged  {left.subject.title}", f"passed  {held.subject.title}",
    ]  # fmt: skip
    assert f"    {left.baseline}: not written, since its file cannot be" in lines
    assert written.subject.title not in "\n".join(lines)


def compared(*findings, measurements=5, **more):
    """The result of a check that was compared with another commit in so many pairs."""
    drifted = any(one.fails for one in findings)
    one = result(step(), Outcome.DRIFTED if drifted else Outcome.PASSED, *findings, baseline="", **more)
    return replace(one, verdict=replace(one.verdict, measurements=measurements))


def dearer(op="aten::gelu"):
    return finding(Kind.DEARER, op, change=0.6, baseline=1500.0, current=2400.0)


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ([seeing(compared())], "5 pairs: nothing moved"),
        ([seeing(compared()), seeing(compared(measurements=12))], "5 to 12 pairs each: nothing moved"),
        ([seeing(compared()), seeing(compared(finding(Kind.CHEAPER)))], "5 pairs: nothing drifted"),
        ([compared()], "5 pairs: nothing drifted"),
        ([compared(dearer())], "5 pairs: aten::gelu +60 % (2,400 us a step, was 1,500 us)"),
        (
            [compared(), compared(dearer()), compared(dearer("aten::mm"))],
            "5 pairs: aten::gelu +60 % (2,400 us a step, was 1,500 us); 1 more test drifted",
        ),
        (
            [seeing(compared()), result(step(), Outcome.NOT_JUDGED, compared=False)],
            "5 pairs: nothing moved, 1 not judged",
        ),
    ],
)
@pytest.mark.parametrize("verbosity", [0, 1])
def test_the_last_line_names_the_base_the_pairs_and_what_drifted(results, told, verbosity):
    text = summary(*results, base="HEAD~1 (1234567ab)", verbosity=verbosity)
    assert_narrow(text)
    last = text[text.rindex("opcost: ") :]
    assert " ".join(last.split()) == f"opcost: against HEAD~1 (1234567ab) in {told}"


def test_of_a_base_that_nothing_was_compared_with_there_is_no_such_line():
    text = summary(result(step(), Outcome.NOT_JUDGED, compared=False), base="HEAD~1 (1234567ab)")
    assert text.splitlines()[-1] == "opcost: 1 not judged"


def test_the_table_of_a_test_on_a_device_has_both_clocks():
    cost = on_device(profile(op("aten::mm", 1234.56, calls=2), op("aten::add", 65.44)))
    assert summary(result(cost), verbosity=1).splitlines()[1:6] == [
        "operator    family         calls    host us    device us    share",
        "----------  -----------  -------  ---------  -----------  -------",
        "aten::mm    addmm              2        1.0      1,234.6   95.0 %",
        "aten::add   elementwise        1        1.0         65.4    5.0 %",
        "step total                              2.0      1,300.0  100.0 %",
    ]


def test_a_long_name_is_cut_in_the_table():
    text = summary(result(profile(op("aten::" + "x" * 80, 1.0, family="y" * 20))), verbosity=1)
    (row,) = [line for line in text.splitlines() if "xxx" in line]
    assert len(row) == 80
    assert f"xxx...  {'y' * 12}  " in row
    assert "z" * 34 + "  " in summary(result(profile(op("z" * 34, 1.0))), verbosity=1)


@pytest.mark.parametrize("clock", [lambda cost: cost, on_device], ids=["host", "device"])
def test_the_widest_table_fits_80_columns(clock):
    ops = (op("aten::" + "x" * 40, 9_876_543.2, calls=12345), op("my::" + "y" * 40, 3.0, family="elementwise"))
    text = summary(result(clock(profile(*ops))), verbosity=1)
    assert_narrow(text)
    assert "\nstep total  " in text


def test_outcomes_are_counted():
    results = [result(outcome=outcome) for outcome in (Outcome.PASSED, Outcome.PASSED, *Outcome)]
    text = summary(*(replace(one, subject=replace(one.subject, family=str(i))) for i, one in enumerate(results)))
    assert "\nopcost: 3 passed, 1 drifted, 1 recorded, 1 not judged, 1 inconclusive\n" in text


def test_stale_baselines():
    stale = [ROOT / "baselines" / "m" / "a.yaml", Path("/elsewhere/b.yaml")]
    told, *paths = summary(stale=stale, pruned=True).splitlines()
    assert told == "stale baselines, whose test no longer exists (removed):"
    assert paths == ["  baselines/m/a.yaml", "  /elsewhere/b.yaml"]
    kept = summary(stale=stale)
    assert "--opcost-prune-baselines" in kept
    assert_narrow(kept)


def test_problems_and_the_reports_come_last():
    reports = ["results: out.json", "page: out/index.html"]
    text = summary(reports=reports, problems=["it broke\nExpected: a whole one.\nMend it.", "w " * 45, "a\n\nb"])
    assert text == dedent(f"""\
        results: out.json
        page: out/index.html
        ERROR: it broke
          Expected: a whole one.
          Mend it.
        ERROR: {"w " * 36}w
          {"w " * 7}w
        ERROR: a

          b
        """)


def test_nothing_to_tell():
    assert summary() == "\n"


@pytest.mark.parametrize("figure", ["4.3 %", "(was 0.598)", "12.5 us", "0.5 ms", "30 times", "(was 0.598 ms)"])
@pytest.mark.parametrize("before", range(60, 80))
def test_no_line_is_broken_within_a_figure(figure, before):
    lines = wrapped("    " + "x" * (before - 5) + f" {figure} y", "      ")
    assert any(figure in line for line in lines)
    assert all(len(line) <= 80 for line in lines)
    assert " ".join(line.strip() for line in lines) == "x" * (before - 5) + f" {figure} y"


def test_a_bullet_stays_with_what_it_stands_before():
    path = "/a/folder/" + "x" * 80
    assert wrapped(f"  - {path}: is damaged", "    ") == [f"  - {path}:", "    is damaged"]
