"""The printed table and the trace of one run tell the same, as far as a table tells."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

from .shelling import opcost

Capture = pytest.CaptureFixture[str]
STEPS = 3


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what one profile was exported as: a table, its ten dearest rows, a trace."""
    folder = tmp_path_factory.mktemp("exports")
    given, layer = torch.randn(2, 4, 32, 16, requires_grad=True), torch.nn.Linear(16, 16)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        with record_function("model inference"):
            # Its backward operator's name is longer than a table shows.
            found = layer(torch.nn.functional.scaled_dot_product_attention(given, given, given))
        # Its division calls itself, which a table counts once.
        found.square().mean().clone().div_(2.0).backward()
        optimizer.step()

    marks = schedule(wait=1, warmup=1, active=STEPS)
    with profile(activities=[ProfilerActivity.CPU], schedule=marks) as profiler:
        for _ in range(2 + STEPS):
            step()
            profiler.step()
    averages = profiler.key_averages()
    (folder / "table.txt").write_text(averages.table(row_limit=-1))
    (folder / "cut.txt").write_text(averages.table(sort_by="self_cpu_time_total", row_limit=10))
    profiler.export_chrome_trace(str(folder / "trace.json"))
    return folder


@pytest.fixture
def imported(exports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> dict[str, Path]:
    """The results of each, a trace's as means over its steps."""
    monkeypatch.chdir(tmp_path)
    found = {name: Path(f"{name}.opcost.json") for name in ("table", "cut", "trace")}
    for name, path in found.items():
        file = exports / f"{name}.{'json' if name == 'trace' else 'txt'}"
        assert opcost(capsys, "import", file, "-o", path, "--means").status == 0
    return found


@pytest.mark.parametrize("sides", ["table trace", "trace table", "cut trace", "trace cut", "table cut", "cut table"])
def test_they_are_the_same(imported: dict[str, Path], capsys: Capture, sides: str) -> None:
    before, after = (imported[name] for name in sides.split())

    data = opcost(capsys, "compare", before, after, "--json").data

    (found,) = data["tests"]
    assert (found["verdict"], found["findings"]) == ("passed", [])
    assert found["compared_ops"]
    for op in found["compared_ops"]:
        # Figures are printed with three digits behind the point of their unit.
        assert op["now_us"] == pytest.approx(op["before_us"], rel=0.001, abs=0.01), op
    assert found["total_us"] == pytest.approx(found["total_us_before"], rel=0.001)
    assert found["ratios"] == pytest.approx(found["baseline_ratios"], rel=0.001)


def test_it_is_said_that_a_table_tells_less(imported: dict[str, Path], capsys: Capture) -> None:
    said = opcost(capsys, "compare", imported["trace"], imported["table"])
    assert "1 round, as far as a printed table tells" in said.told


def test_means_of_a_trace_are_said_to_be_some(
    exports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    said = opcost(capsys, "import", exports / "trace.json", "--means", "-o", "out.json")
    assert f"each figure is a mean over {STEPS} steps, as was asked" in said.told


@pytest.mark.parametrize("table_first", [True, False])
def test_means_beside_the_least_are_told(
    exports: Path, imported: dict[str, Path], capsys: Capture, table_first: bool
) -> None:
    assert opcost(capsys, "import", exports / "trace.json", "-o", "least.json").status == 0
    sides = [imported["table"], Path("least.json")]
    said = opcost(capsys, "compare", *(sides if table_first else sides[::-1])).told
    told = (
        "the former figures are means over steps, these" if table_first else "these figures are means over steps, the"
    )
    assert told in " ".join(said.split())
    assert "import traces with --means" in " ".join(said.split())
