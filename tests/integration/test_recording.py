"""The first run records on a person's machine, the second compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from .project import summary, told

if TYPE_CHECKING:
    from .project import Project


def test_the_first_run_records_and_says_so(project: Project) -> None:
    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert result.ret == 0
    (path,) = project.files()
    relative = path.relative_to(project.path)
    assert relative.parent.as_posix() == "baselines/cpu-chip-a-1-thread-torch2.9"
    assert relative.name.startswith("test_model.py-test_model-")
    assert "recorded test_model.py::test_model" in told(result)
    assert f"{relative}: new" in told(result)
    assert "Recorded baselines belong in git" in told(result)
    assert "opcost: 1 recorded" in summary(result)


def test_the_second_run_compares_and_leaves_the_file_alone(project: Project) -> None:
    project.run("--opcost")
    before = project.files()

    result = project.run("--opcost")

    result.assert_outcomes(passed=1)
    assert "opcost: 1 passed" in summary(result)
    assert "conv/addmm 4 (was 4)" in told(result)
    assert project.files() == before


def test_a_steady_step_is_measured_once_to_compare(project: Project) -> None:
    project.record()

    project.run("--opcost")

    assert len(project.seam.calls) == 1


def test_the_file_holds_what_was_measured(project: Project) -> None:
    (text,) = project.record().values()

    document = yaml.safe_load(text)
    assert document["test"] == "test_model.py::test_model"
    assert document["machine"] == "cpu-chip-a-1-thread-torch2.9"
    assert document["environment"]["device_name"] == "Chip A"
    assert document["ratios"] == {"conv/addmm": {"value": 4.0, "spread": 0.0}}
    first = document["ops"][0]
    assert first["op"] == "aten::mkldnn_convolution"
    assert (first["calls"], first["self_host_us"], first["share"]) == (2, 4000.0, 0.4)
    assert first["samples"] == [4000.0] * 5
    assert len(document["ops"]) == 7


def test_repeats_decides_how_many_measurements_a_baseline_is_made_of(project: Project) -> None:
    project.run("--opcost", "--opcost-rounds=2")

    assert len(project.seam.calls) == 3  # one here, for what is exact, and two in fresh processes
    (text,) = project.files().values()
    assert [session["rounds"] for session in yaml.safe_load(text)["sessions"]] == [2]


def test_without_rounds_the_measurement_made_here_is_the_baseline(project: Project) -> None:
    project.run("--opcost", "--opcost-rounds=0")

    assert len(project.seam.calls) == 1
    (text,) = project.files().values()
    assert yaml.safe_load(text)["ops"][0]["samples"] == [4000.0]


def test_a_baseline_is_the_median_of_its_rounds_and_keeps_each(project: Project) -> None:
    project.write(
        "test_model.py",
        """
rounds = iter([5000, 8000, 9000, 10000, 7000, 5050])


def test_model(opcost):
    opcost.check(lambda: {"ops": {"aten::mkldnn_convolution": float(next(rounds)), "aten::addmm": 1000.0}})
""",
    )

    project.run("--opcost").assert_outcomes(passed=1)

    (text,) = project.files().values()
    first = yaml.safe_load(text)["ops"][0]
    assert (first["self_host_us"], first["samples"]) == (8000, [8000, 9000, 10000, 7000, 5050])


def test_a_later_session_adds_its_rounds_to_a_baseline_that_holds(project: Project) -> None:
    project.record()
    project.lenet(gelu=[1510.0, 3])

    result = project.run("--opcost-add-rounds", "--opcost-rounds=3")

    result.assert_outcomes(passed=1)
    (text,) = project.files().values()
    document = yaml.safe_load(text)
    assert [session["rounds"] for session in document["sessions"]] == [5, 3]
    (gelu,) = (op for op in document["ops"] if op["op"] == "aten::gelu")
    assert gelu["samples"] == [1500.0] * 5 + [1510.0] * 3
    assert "now of 2 sessions, 8 rounds" in told(result)
    assert "opcost: 1 passed" in told(result)


def test_what_lacks_rounds_is_not_told_so_while_it_gets_more(project: Project) -> None:
    project.record("--opcost-rounds=2")
    assert "2 of the 4 rounds or more" in told(project.run("--opcost"))

    added = told(project.run("--opcost-add-rounds"))

    assert "rounds or more" not in added
    assert "now of 2 sessions, 7 rounds" in added


def test_a_drift_adds_nothing(project: Project) -> None:
    before = project.record()
    project.lenet(gelu=[2400.0, 3])

    project.run("--opcost-add-rounds").assert_outcomes(failed=1)

    assert project.files() == before


def test_two_machines_have_a_folder_each(project: Project) -> None:
    project.run("--opcost")
    project.costs(machine="Chip B")

    project.run("--opcost-update-baselines")

    folders = [path.parent.name for path in project.files()]
    assert folders == ["cpu-chip-a-1-thread-torch2.9", "cpu-chip-b-1-thread-torch2.9"]
