"""Every option has a twin in the ini file; the command line wins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pytest_opcost.check_options import CheckOptions
    from pytest_opcost.options import Options

    from .project import Project


def _seen(project: Project) -> tuple[Options, CheckOptions]:
    assert project.seam.calls
    options, check, _ = project.seam.calls[0]
    return options, check


@pytest.mark.parametrize(
    ("line", "attribute", "expected", "option", "wins"),
    [
        ("opcost_batch_size = 2,4", "batch_sizes", (2, 4), "--opcost-batch-size=8", (8,)),
        ("opcost_device =\n  cuda\n  cpu", "devices", ("cuda", "cpu"), "--opcost-device=xpu", ("xpu",)),
        ("opcost_device = cuda:1", "devices", ("cuda:1",), "--device=xpu", ("xpu",)),
        ("opcost_mnist = sample", "mnist", "sample", "--opcost-mnist=x", "x"),
        ("opcost_threads = 2", "threads", 2, "--opcost-threads=3", 3),
        ("opcost_allocator = system", "quiet", False, "--opcost-allocator=quiet", True),
        ("opcost_rounds = 2", "rounds", 2, "--opcost-rounds=3", 3),
        ("opcost_confirm = 0", "confirm", 0, "--opcost-confirm=5", 5),
        ("opcost_warmup = 0", "check.warmup", 0, "--opcost-warmup=1", 1),
        ("opcost_steps = 7", "check.steps", 7, "--opcost-steps=8", 8),
        ("opcost_top = 3", "check.top", 3, "--opcost-top=4", 4),
        ("opcost_tolerance = 0.3", "check.tolerance", 0.3, "--opcost-tolerance=0", 0.0),
        ("opcost_floor = 2.5", "check.floor", 2.5, "--opcost-floor=0", 0.0),
        ("opcost_fail_on = drift", "check.fail_on", "drift", "--opcost-fail-on=dearer", "dearer"),
        ("opcost_on_drift = report", "check.on_drift", "report", "--opcost-on-drift=fail", "fail"),
        (
            "opcost_ratio =\n  copy/total=0.2\n  pool/total",
            "check.ratios",
            (("conv/addmm", None), ("copy/total", 0.2), ("pool/total", 0.1)),
            "--opcost-ratio=conv/addmm=0.3",
            (("conv/addmm", 0.3),),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " = " in value else "",
)
def test_the_ini_twin_works_and_the_command_line_wins(
    project: Project, line: str, attribute: str, expected: Any, option: str, wins: Any
) -> None:
    def value() -> Any:
        options, check = _seen(project)
        source = check if attribute.startswith("check.") else options
        return getattr(source, attribute.removeprefix("check."))

    project.ini(line)

    project.run("--opcost")
    assert value() == expected
    project.seam.calls.clear()
    project.run("--opcost", option)
    assert value() == wins


def test_opcost_switched_on(project: Project) -> None:
    project.ini("opcost = true")

    project.run().assert_outcomes(passed=1)

    assert len(project.files()) == 1


def test_opcost_switched_off(project: Project) -> None:
    project.ini("opcost = false")

    project.run().assert_outcomes(skipped=1)
    project.run("--opcost").assert_outcomes(passed=1)


def test_update_baselines(project: Project) -> None:
    project.record()
    project.lenet(addmm=[3000.0, 2])
    project.ini("opcost_update_baselines = true")

    project.run().assert_outcomes(passed=1)

    project.ini()
    project.run("--opcost").assert_outcomes(passed=1)


def test_update_missing(project: Project) -> None:
    before = project.record()
    project.checks("test_new")
    project.lenet(addmm=[1010.0, 2])
    project.ini("opcost_update_missing = true")

    project.run().assert_outcomes(passed=2)

    after = project.files()
    assert len(after) == 2
    assert {path: after[path] for path in before} == before


def test_prune_baselines(project: Project) -> None:
    project.record()
    project.write("test_model.py", "def test_another(opcost, step):\n    opcost.check(step)\n")
    project.ini("opcost_prune_baselines = true")

    project.run("--opcost")

    (path,) = project.files()
    assert "test_another" in path.name


def test_baselines(project: Project) -> None:
    project.ini("opcost_baselines = costs")

    project.run("--opcost")
    project.run("--opcost", "--opcost-baselines=other")

    assert len(project.files("costs")) == len(project.files("other")) == 1


def test_missing(project: Project) -> None:
    project.ini("opcost_missing = fail")

    project.run("--opcost").assert_outcomes(failed=1)
    project.run("--opcost", "--opcost-missing=record").assert_outcomes(passed=1)


def test_json(project: Project) -> None:
    project.ini("opcost_json = out/costs.json")

    project.run("--opcost")

    assert (project.path / "out" / "costs.json").exists()


def test_options_in_addopts_and_in_the_environment(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--opcost --opcost-top=4")

    project.run("--opcost-steps=9").assert_outcomes(passed=1)

    _, check = _seen(project)
    assert (check.top, check.steps) == (4, 9)


def test_mnist_from_the_environment(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPCOST_MNIST", "sample")
    project.run("--opcost")
    assert _seen(project)[0].mnist == "sample"

    project.seam.calls.clear()
    project.run("--opcost", "--opcost-mnist=elsewhere")
    assert _seen(project)[0].mnist == "elsewhere"
