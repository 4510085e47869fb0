from __future__ import annotations

import errno
import os
import re
import sys
from dataclasses import replace
from types import ModuleType

import pytest
from records import CUDA, finding, on_device, op, profile, result, step
from reports import FLOW, batches, flowing, run, training

from pytest_opcost.costs import ColdStep
from pytest_opcost.errors import ReportError
from pytest_opcost.facts import OpFacts
from pytest_opcost.judge import Kind, Outcome

pytest.importorskip("matplotlib")
from matplotlib.figure import Figure

from pytest_opcost.report.markdown import models, telling, write_markdown

_DRAWN = models._drawn


@pytest.fixture(autouse=True)
def _no_other_rooms(monkeypatch):
    """The drawing and the sentences are told in tests of their own."""
    monkeypatch.setattr(models, "_drawn", lambda *_: [])
    monkeypatch.setattr(telling, "sentences", lambda group: ())


def written(folder, *args, **more):
    write_markdown(folder / "report.md", run(*args, **more))
    return (folder / "report.md").read_text(encoding="utf-8")


def section(text, title):
    """The lines below a heading, up to the next one."""
    lines = text.splitlines()
    begin = lines.index(title) + 1
    end = next((at for at in range(begin, len(lines)) if lines[at].startswith("#")), len(lines))
    return lines[begin + 1 : end]


def pictures(text):
    return re.findall(r"!\[(.*?)\]\((.*?)\)", text)


def test_the_lab_s_sections_in_the_lab_s_order(tmp_path):
    text = written(tmp_path, batches(1, 16), [training()])
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# What operators cost",
        "## Environment",
        "## Results",
        "### 1. The model",
        "#### Data-flow graph",
        "#### Loss and accuracy",
        "#### The operators used most",
        "### 2. Batch sizes compared",
        "#### `tests/test_a.py::test_step`",
        "## What the figures say",
        "## Against the baselines",
    ]


def test_the_environment_has_the_lab_s_rows(tmp_path):
    details = (
        ("cpu", "AMD EPYC"),
        ("cpus", "16"),
        ("distribution", "Testix 12"),
        ("os", "Linux 6.1"),
        ("python", "3.12.1"),
        ("cuda", "13.0"),
    )
    cards = [replace(CUDA, details=(*details, ("cudnn", "91000"), ("card", card))) for card in ("aa", "bb", "aa")]
    checks = [result(replace(step(), environment=card), data="MNIST: 60,000 + 10,000 images") for card in cards]
    lines = section(written(tmp_path, checks), "## Environment")
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:-1]] == [
        ["Hardware", "CPU (number of vCPUs)", "AMD EPYC (16); Test CPU 9000"],
        ["", "GPU (model, number)", "NVIDIA H100 80GB HBM3, 2"],
        ["Software", "OS version", "Testix 12, Linux 6.1; Linux 6.1"],
        ["", "Framework: Python packages and versions", "torch 2.11.0+cpu, Python 3.12.1"],
        ["", "CUDA version", "13.0, cuDNN 91000"],
        ["Measured", "Instruction set or compute capability", "9.0; x86_64 AVX2"],
        ["", "CPU threads", "1"],
        ["", "Allocator", "quiet"],
        [
            "",
            "Machine, as baselines call it",
            "cuda-nvidia-h100-80gb-hbm3-torch2.11; cpu-test-cpu-9000-1-thread-torch2.11",
        ],
        ["", "Data", "MNIST: 60,000 + 10,000 images"],
    ]


def test_the_data_flow_as_a_list_of_calls(tmp_path):
    text = written(tmp_path, [result(flowing())])
    assert section(text, "#### Data-flow graph") == [
        models._NAMES,
        "",
        "**`tests/test_a.py::test_step`**, cpu, batch size 16",
        "",
        "| call | operator            | module     | takes                      | makes          |   µs |",
        "| ---- | ------------------- | ---------- | -------------------------- | -------------- | ---: |",
        "| 1    | `aten::convolution` | `layer1.0` | `input`, `layer1.0.weight` | `f32[2,3,2,2]` | 40.4 |",
        "| 2    | `aten::relu`        | `Net`      | 1                          | `f32[2,3,2,2]` |  0.2 |",
        "| 3    | `aten::relu`        | `Net`      | 2                          | `f32[2,3,2,2]` |  3.0 |",
        "",
    ]


def test_the_data_flow_is_drawn(tmp_path, monkeypatch):
    drawing = ModuleType("pytest_opcost.report.drawing")
    drawing.flow_figure = lambda flow, total_us: Figure(figsize=(len(flow.nodes) / 4, total_us / 1000))
    drawing.phases_figure = lambda flow, total_us: Figure(figsize=(len(flow.nodes) / 5, total_us / 1000))
    monkeypatch.setitem(sys.modules, "pytest_opcost.report.drawing", drawing)
    monkeypatch.setattr(models, "_drawn", _DRAWN)
    forward = replace(FLOW, nodes=FLOW.nodes[:5], edges=FLOW.edges[:4])
    infers = result(replace(step(), flow=forward), test="tests/test_a.py::test_infer[cpu-16]")
    shown = pictures("\n".join(section(written(tmp_path, [result(flowing()), infers]), "#### Data-flow graph")))
    assert [title for title, _ in shown] == [
        "Data flow of tests/test_a.py::test_step",
        "Forward, backward and optimizer of tests/test_a.py::test_step",
        "Data flow of tests/test_a.py::test_infer",
    ]


def test_trainings_as_figures_beside_their_curves(tmp_path):
    cut = training(batch_size=64, test_losses=(), test_accuracies=(), epoch_seconds=(), interrupted=True)
    cut, whole = (
        replace(one, hyperparameters=(*one.hyperparameters, ("batch size", str(one.batch_size))))
        for one in (cut, training())
    )
    text = written(tmp_path, trainings=[whole, cut])
    lines = section(text, "#### Loss and accuracy")
    assert lines[0] == "**LeNet**"
    assert lines[2].startswith("![Loss and accuracy of LeNet](report-pictures/loss-and-accuracy-of-lenet-")
    assert lines[4:] == [
        "Lines: the batches trained on. Points: the test images after each epoch.",
        "",
        "| device | loop  | batch size |              epochs |      test accuracy | mean test loss | s an epoch |",
        "| ------ | ----- | ---------: | ------------------: | -----------------: | -------------: | ---------: |",
        "| cpu    | eager |         16 |              2 of 2 | 96.00 % (48 of 50) |         0.1250 |          5 |",
        "| cpu    | eager |         64 | 0 of 2, interrupted |                    |                |            |",
        "",
        "Trained on 160 images and tested on 50 (MNIST: 160 + 50 images), optimizer Adadelta, learning rate 1.0.",
        "",
    ]


def test_what_steps_cost_during_training(tmp_path):
    costs = (("start", step()), ("end", step(addmm=2.0)))
    lines = section(written(tmp_path, trainings=[replace(training(), costs=costs)]), "#### Loss and accuracy")
    assert lines[-7:] == [
        "What a step cost during training:",
        "",
        "| device | batch size | profiled at the | its operators | conv/addmm |",
        "| ------ | ---------- | --------------- | ------------: | ---------: |",
        "| cpu    | 16         | start           |       1.00 ms |       2.00 |",
        "| cpu    | 16         | end             |       1.20 ms |       1.00 |",
        "",
    ]


def test_the_top_operators_of_the_largest_batch(tmp_path):
    facts = OpFacts(flops=4_000_000)
    large = profile(op("aten::mm", 300.0, calls=2, facts=facts), op("aten::relu", 60.0), op("aten::add", 40.0))
    checks = [result(large, batch_size=64, top=2), result(step(), batch_size=1)]
    assert section(written(tmp_path, checks), "#### The operators used most")[4:] == [
        "| operator     | family      | calls | host µs |  share | MFLOP | GFLOP/s |",
        "| ------------ | ----------- | ----: | ------: | -----: | ----: | ------: |",
        "| `aten::mm`   | addmm       |     2 |   300.0 | 75.0 % |   4.0 |    13.3 |",
        "| `aten::relu` | elementwise |     1 |    60.0 | 15.0 % |       |         |",
        "| `other`      | other       |     1 |    40.0 | 10.0 % |       |         |",
        "",
    ]


def test_a_device_s_own_time_and_the_host_s_are_tables_apart(tmp_path):
    cost = on_device(profile(op("aten::mm", 30.0), op("aten::relu", 10.0)))
    cost = replace(cost, ops=tuple(replace(one, self_host_us=us) for one, us in zip(cost.ops, (1.0, 4.0))))
    cost = replace(cost, total_host_us=5.0)
    lines = section(written(tmp_path, [result(cost, device="cuda")]), "#### The operators used most")
    at, then = lines.index("Device view, by kernel time:"), lines.index("Host view, by the CPU's time:")
    assert [line.split()[1] for line in lines[at:then] if "aten::" in line] == ["`aten::mm`", "`aten::relu`"]
    assert lines[then + 4 : then + 6] == [
        "| `aten::relu` | elementwise |     1 |     4.0 | 80.0 % |",
        "| `aten::mm`   | addmm       |     1 |     1.0 | 20.0 % |",
    ]


def test_batch_sizes_side_by_side(tmp_path):
    small, large = batches(1, 16)
    small = replace(small, top=2, profile=replace(small.profile, cold=ColdStep(9000.0, 1.0, 0.0)))
    text = written(tmp_path, [large, small])
    lines = section(text, "#### `tests/test_a.py::test_step`")
    assert lines[:12] == [
        "|                    |  cpu, 1 | cpu, 16 |",
        "| ------------------ | ------: | ------: |",
        "| step               | 1.00 ms | 16.0 ms |",
        "| an image           | 1.00 ms | 1.00 ms |",
        "| first step, cold   | 9.00 ms |       - |",
        "| conv/addmm         |    2.00 |    17.0 |",
        "| conv, share        |  40.0 % |  40.0 % |",
        "| addmm, share       |  20.0 % |  20.0 % |",
        "| pool, share        |  15.0 % |  15.0 % |",
        "| elementwise, share |  10.0 % |  10.0 % |",
        "",
        next(line for line in lines if "over batch size" in line),
    ]
    assert lines[13:16] == [
        "| operator                        |          cpu, 1 |          cpu, 16 |",
        "| ------------------------------- | --------------: | ---------------: |",
        "| `aten::mkldnn_convolution`      | 400 µs (40.0 %) | 6.40 ms (40.0 %) |",
    ]


def test_one_configuration_is_nothing_to_compare(tmp_path):
    text = written(tmp_path, batches(16))
    assert section(text, "### 2. Batch sizes compared") == ["No test ran in more than one configuration.", ""]


def test_verdicts_with_their_findings_in_words(tmp_path):
    moved = finding(Kind.DEARER, message="aten::mm costs 50 % more | <b>")
    lines = section(written(tmp_path, [result(None, Outcome.DRIFTED, moved)]), "## Against the baselines")
    assert lines == [
        "| check                                | verdict | step    | ratios (baseline's)    |",
        "| ------------------------------------ | ------- | ------- | ---------------------- |",
        "| `tests/test_a.py::test_step[cpu-16]` | drifted | 1.23 ms | conv/addmm 2.00 (1.95) |",
        "",
        "`tests/test_a.py::test_step[cpu-16]`:",
        "",
        r"- `aten::mm` costs 50 % more \| \<b\>",
    ]


def test_sentences_where_somebody_can_say_them(tmp_path, monkeypatch):
    said = "There are {} checks.", "aten::mm* dominates."
    monkeypatch.setattr(telling, "sentences", lambda group: [one.format(len(group.members)) for one in said])
    text = written(tmp_path, batches(1, 16))
    assert section(text, "## What the figures say") == [
        "**`tests/test_a.py::test_step`**",
        "",
        "- There are 2 checks.",
        r"- `aten::mm`\* dominates.",
        "",
    ]


def test_a_run_that_measured_nothing(tmp_path):
    text = written(tmp_path)
    assert "This run has no curves: nothing was trained" in text
    assert "No step was compared in this run." in text
    assert not (tmp_path / "report-pictures").exists()


def test_every_picture_is_there_and_no_older_one(tmp_path):
    folder = tmp_path / "my report-pictures"
    for trainings in ([training()], [training(), training(batch_size=1)]):
        write_markdown(tmp_path / "my report.md", run(batches(1, 16), trainings))
        text = (tmp_path / "my report.md").read_text(encoding="utf-8")
        assert {link.partition("/")[0] for _, link in pictures(text)} == {"my%20report-pictures"}
        assert {link.partition("/")[2] for _, link in pictures(text)} == set(os.listdir(folder))
        assert all(path.read_bytes().startswith(b"\x89PNG") for path in folder.iterdir())
        (folder / "mine.png").write_bytes(b"\x89PNG")
        assert "mine.png" in os.listdir(folder)
        (folder / "mine.png").unlink()


def test_a_picture_of_the_user_s_own_stays(tmp_path):
    written(tmp_path, batches(1, 16))
    (tmp_path / "report-pictures" / "mine.png").write_bytes(b"mine")
    written(tmp_path, batches(1, 64))
    assert (tmp_path / "report-pictures" / "mine.png").read_bytes() == b"mine"


def test_the_same_run_is_the_same_report(tmp_path):
    for name in ("a", "b"):
        written(tmp_path / name, batches(1, 16), [training()])
    assert (tmp_path / "a/report.md").read_bytes() == (tmp_path / "b/report.md").read_bytes()


def test_names_cannot_make_markup(tmp_path):
    evil = "x|y`<script>alert(1)</script>$a$\n# big"
    cost = flowing(profile(op(evil, 10.0, family="conv"), op("aten::mm", 5.0)))
    checks = [result(cost, test=f"tests/{evil}.py::test[{size}]", batch_size=size, check=evil) for size in (1, 16)]
    text = written(tmp_path, checks, [training(model=evil, data=evil, hyperparameters=((evil, evil),))])
    assert [line for line in text.splitlines() if line.startswith("# ")] == ["# What operators cost"]
    outside = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)
    assert "<script>" not in outside.replace(r"\<script\>", "")
    for line in text.splitlines():
        if line.startswith("|"):
            assert len(re.findall(r"(?<!\\)\|", line)) in {4, 5, 7, 8}, line


def test_a_full_disk_leaves_the_old_report_with_its_pictures(tmp_path, monkeypatch):
    old = written(tmp_path, batches(1, 16), [training()])
    kept = set(os.listdir(tmp_path / "report-pictures"))

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(ReportError, match=r"No space left on device[^/]*--opcost-markdown=FILE\."):
            written(tmp_path, batches(1, 64), [training(batch_size=1)])
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == old
    assert set(os.listdir(tmp_path / "report-pictures")) == kept


def test_pyplot_is_never_loaded(tmp_path):
    before = "matplotlib.pyplot" in sys.modules
    written(tmp_path, batches(1, 16), [training()])
    assert ("matplotlib.pyplot" in sys.modules) == before
