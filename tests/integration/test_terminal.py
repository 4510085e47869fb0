"""What a run prints: header, tables and counts, at most 80 columns wide, without colours where nobody asked."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from .fake_seam import LENET
from .project import summary

if TYPE_CHECKING:
    from .project import Project

_SIZES = "def test_model(opcost, opcost_batch_size, step):\n    opcost.check(step)\n"


def test_the_header_tells_the_mode_the_machine_and_the_folder(project: Project) -> None:
    result = project.run("--opcost", "--opcost-device=cpu,cuda", "--opcost-threads=2")

    result.stdout.fnmatch_lines(
        [
            "opcost: compare; without a baseline: record",
            "opcost: cpu: Chip A (x86_64 AVX512), torch 2.9.1+cpu, 2 threads, quiet allocator",
            "opcost: machine cpu-chip-a-2-threads-torch2.9",
            "opcost: cuda: Chip A (x86_64 AVX512), torch 2.9.1+cpu, 2 threads, quiet",
            "        allocator",
            "opcost: machine cuda-chip-a-torch2.9",
            "opcost: baselines baselines",
        ],
        consecutive=True,
    )


def test_the_summary_of_a_run_where_nothing_moved(project: Project) -> None:
    project.record()

    result = project.run("--opcost")

    _, _, section = result.stdout.str().partition("[100%]\n\n")
    title, *lines = section.splitlines()
    assert title.strip("=") == " opcost: operator costs "
    assert lines[:-1] == [
        "passed  test_model.py::test_model",
        "    step 11 ms, conv/addmm 4 (was 4)",
        "opcost: 1 passed",
    ]


def test_quiet_counts_what_only_passed(project: Project) -> None:
    project.record()

    result = project.run("--opcost", "-q")

    title, *lines = result.stdout.lines[1:-1]
    assert (title.strip("="), lines) == (" opcost: operator costs ", ["opcost: 1 passed"])


def test_verbose_shows_the_table_of_each_test(project: Project) -> None:
    project.record()

    result = project.run("--opcost", "-v", "--opcost-top=3")

    lines = [line for line in summary(result) if line and not line.startswith("---")]
    seen = next(i for i, line in enumerate(lines) if "would have looked closer at a change of: mkldnn_conv" in line)
    assert "conv/addmm" in " ".join(lines[seen : seen + 4])
    del lines[seen : next(i for i, line in enumerate(lines) if "first step" in line)]  # figures of the noise study
    start = next(i for i, line in enumerate(lines) if "compared with a baseline recorded 20" in line)
    assert " ".join(" ".join(lines[start : start + 2]).split()).endswith(
        "in one session of 5 rounds, which sees less than several do"
    )
    del lines[start : start + 2]
    rows = [line.split() for line in lines]
    assert rows == [
        ["test_model.py::test_model:", "passed,", "same", "as", "the", "baseline"],
        ["operator", "family", "calls", "host", "us", "share"],
        ["aten::mkldnn_convolution", "conv", "2", "4,000.0", "40.0", "%"],
        ["aten::max_pool2d_with_indices", "pool", "1", "2,000.0", "20.0", "%"],
        ["aten::gelu", "elementwise", "3", "1,500.0", "15.0", "%"],
        ["other", "other", "9", "2,500.0", "25.0", "%"],
        ["step", "total", "10,000.0", "100.0", "%"],
        ["step", "11", "ms,", "conv/addmm", "4", "(was", "4)"],
        [
            "first",
            "step,",
            "cold:",
            "5",
            "ms",
            "(warm",
            "11",
            "ms);",
            "aten::mkldnn_convolution",
            "4",
            "ms",
        ],
        ["(warm", "4", "ms)"],
        ["opcost:", "1", "passed"],
    ]


def test_verbose_on_a_device_shows_its_time_too(project: Project) -> None:
    result = project.run("--opcost", "-v", "--opcost-device=cuda")

    rows = [line.split() for line in summary(result)]
    assert ["operator", "family", "calls", "host", "us", "device", "us", "share"] in rows
    assert ["aten::mkldnn_convolution", "conv", "2", "10.0", "4,000.0", "40.0", "%"] in rows
    assert ["step", "total", "75.0", "10,000.0", "100.0", "%"] in rows


def test_quiet_shows_the_outcome_and_no_header(project: Project) -> None:
    project.record()

    result = project.run("--opcost", "-q")

    assert "opcost: compare" not in result.stdout.str()
    assert "opcost: 1 passed" in summary(result)


def test_collecting_tells_no_outcome(project: Project) -> None:
    result = project.run("--opcost", "--collect-only")

    assert "opcost: operator costs" not in result.stdout.str()
    assert "opcost: compare; without a baseline: record" in result.stdout.str()


def test_batch_sizes_stand_side_by_side(project: Project) -> None:
    project.write("test_model.py", _SIZES)
    project.costs({"aten::mkldnn_convolution": 1000.0, "aten::addmm": 1000.0}, test="test_model[1]")
    project.costs({"aten::mkldnn_convolution": 6000.0, "aten::addmm": 2000.0}, test="test_model[8]")

    result = project.run("--opcost", "--opcost-batch-size=8,1")

    lines = summary(result)
    start = lines.index("test_model.py::test_model")
    assert [line.split() for line in lines[start + 1 : start + 8] if "--" not in line] == [
        ["cpu,", "1", "cpu,", "8"],
        ["step", "2.2", "ms", "8.8", "ms"],
        ["a", "sample", "2.2", "ms", "1.1", "ms"],
        ["conv/addmm", "1", "3"],
        ["conv,", "share", "50.0", "%", "75.0", "%"],
        ["addmm,", "share", "50.0", "%", "25.0", "%"],
    ]


def test_many_batch_sizes_are_broken_into_several_tables(project: Project) -> None:
    project.write("test_model.py", _SIZES)

    result = project.run("--opcost", "--opcost-batch-size=1,2,3,4,5,6,7")

    headers = [
        line.replace("cpu,", "").split() for line in summary(result) if line.startswith("   ") and "cpu, " in line
    ]
    assert len(headers) > 1
    assert [size for header in headers for size in header] == ["1", "2", "3", "4", "5", "6", "7"]


@pytest.mark.parametrize("verbosity", [[], ["-v"], ["-q"]], ids=["", "-v", "-q"])
def test_nothing_is_wider_than_80_columns_but_a_word_that_is(project: Project, verbosity: list[str]) -> None:
    project.write("test_model.py", _SIZES)
    project.checks("test_drifts", "test_goes")
    long = {f"aten::an_operator_with_a_name_that_takes_more_room_than_any_table_has_{n}": 3000.0 for n in range(3)}
    project.costs({**LENET, **long})
    project.costs(machine="Intel Xeon Platinum 8581C with a name that goes on and on", test="test_goes")
    project.record("--opcost-batch-size=1,2,4,8,16")
    project.checks("test_drifts")
    project.costs({**LENET, **dict.fromkeys(long, 9000.0), "aten::add": 1.0}, test="test_drifts")
    project.costs({**LENET, **long, "aten::gelu": [500.0, 3]})

    result = project.run("--opcost", "--opcost-batch-size=1,2,4,8,16,32", "--opcost-json=out.json", *verbosity)

    result.assert_outcomes(passed=6, failed=1)
    header = [line for line in result.outlines if line.startswith(("opcost: ", "        "))]
    wide = [line for line in [*header, *summary(result)] if len(line) > 80]
    assert [line for line in wide if len(line.split()) > 1] == []


def test_no_colour_codes_where_the_output_is_no_terminal(project: Project) -> None:
    project.record()
    project.lenet(addmm=[2000.0, 2])

    for result in (project.run("--opcost", "-v"), project.run("--opcost", "--opcost-batch-size=0")):
        assert "\x1b" not in result.stdout.str() + result.stderr.str()


def test_a_run_in_a_process_of_its_own_says_nothing_on_stderr(project: Project) -> None:
    project.installs_its_own_seam()

    result = project.pytester.run(sys.executable, "-m", "pytest", "--opcost")

    result.assert_outcomes(passed=1)
    assert result.stderr.str() == ""
