"""Event files are read back with TensorBoard's own readers."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from types import ModuleType

import pytest
from records import finding, on_device, op, profile, result, step
from reports import FLOW, batches, flowing, run, training

from pytest_opcost.costs import ColdStep
from pytest_opcost.judge import Kind, Outcome

pytest.importorskip("tensorboard")
pytest.importorskip("PIL")
from tensorboard.backend.event_processing.event_accumulator import STORE_EVERYTHING_SIZE_GUIDANCE, EventAccumulator
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.plugins.hparams import metadata

from pytest_opcost.report.tensorboard import write_events

COSTS = "costs/tests/test_a.py/test_step"


def read(folder):
    return EventAccumulator(str(folder), size_guidance=STORE_EVERYTHING_SIZE_GUIDANCE).Reload()


def runs_of(folder):
    """The run folders that TensorBoard finds."""
    return sorted(EventMultiplexer().AddRunsFromDirectory(str(folder)).Reload().Runs())


def points(folder, tag):
    return [(point.step, point.value) for point in read(folder).Scalars(tag)]


def words(folder, tag):
    return [one.tensor_proto.string_val[0].decode() for one in read(folder).Tensors(tag)]


def test_each_configuration_has_a_run_folder_of_its_own(tmp_path):
    trainings = [training(), training(batch_size=64), training(batch_size=64)]
    write_events(tmp_path, run([*batches(1, 16), *batches(1, test="tests/test_a.py::TestNet::test_step")], trainings))
    assert runs_of(tmp_path) == [
        "costs/tests/test_a.py/test_step/batch-1-cpu-test-cpu-9000",
        "costs/tests/test_a.py/test_step/batch-16-cpu-test-cpu-9000",
        "costs/tests/test_a.py/testnet-f0071b8d/test_step/batch-1-cpu-test-cpu-9000",
        "training/run-0001-2026-11-28t10-15-30/lenet-batch-16-cpu",
        "training/run-0001-2026-11-28t10-15-30/lenet-batch-64-cpu",
        "training/run-0001-2026-11-28t10-15-30/lenet-batch-64-cpu-2",
    ]


def test_the_costs_of_a_step_are_scalars(tmp_path):
    cold = ColdStep(5000.0, 4000.0, 0.0)
    write_events(tmp_path, run([result(replace(step(), cold=cold), ratios={"conv/addmm forward": 2.5}, top=2)]))
    folder = tmp_path / COSTS / "batch-16-cpu-test-cpu-9000"
    found = {tag: [value for _, value in points(folder, tag)] for tag in read(folder).Tags()["scalars"]}
    assert found == {
        "step us/wall": [1234.5],
        "step us/host": [1000.0],
        "step us/wall, an image": [pytest.approx(1234.5 / 16)],
        "step us/wall, first and cold": [5000.0],
        "ratio/conv/addmm forward": [2.5],
        "operator host us/aten::mkldnn_convolution": [400.0],
        "operator host us/aten::addmm": [200.0],
        "operator host us/aten::max_pool2d_with_indices": [150.0],
        "operator host us/aten::relu": [100.0],
        "operator host us/aten::bernoulli_": [80.0],
        "operator host us/aten::_log_softmax": [70.0],
        "family host us/conv": [400.0],
        "family host us/addmm": [200.0],
        "family host us/pool": [150.0],
        "family host us/elementwise": [100.0],
        "family host us/random": [80.0],
        "family host us/softmax": [70.0],
    }


def test_cheap_operators_below_the_top_have_no_curve_but_count_for_their_family(tmp_path):
    cost = profile(op("aten::mm", 999.0), op("aten::add", 0.8), op("aten::mul", 0.2))
    write_events(tmp_path, run([result(cost, top=1)]))
    tags = read(tmp_path / COSTS / "batch-16-cpu-test-cpu-9000").Tags()["scalars"]
    assert [tag for tag in tags if tag.startswith(("operator", "family"))] == [
        "operator host us/aten::mm",
        "family host us/addmm",
        "family host us/elementwise",
    ]


def test_on_a_device_its_own_time_counts(tmp_path):
    write_events(tmp_path, run([result(on_device(step()), device="cuda:1")]))
    folder = tmp_path / COSTS / "batch-16-cuda-1-nvidia-h100-80gb-hbm3"
    assert points(folder, "operator device us/aten::addmm") == [(1, 200.0)]
    assert points(folder, "step us/device") == [(1, 1000.0)]
    assert points(folder, "step us/host") == [(1, 6.0)]


def test_every_run_adds_one_point_to_the_same_curves(tmp_path):
    for factor in (1.0, 2.0, 4.0):
        write_events(tmp_path, run([result(step(every=factor))]))
    assert runs_of(tmp_path) == [f"{COSTS}/batch-16-cpu-test-cpu-9000"]
    folder = tmp_path / COSTS / "batch-16-cpu-test-cpu-9000"
    assert points(folder, "step us/host") == [(1, 1000.0), (2, 2000.0), (3, 4000.0)]
    assert len(words(folder, "top operators")) == 3


def test_a_run_that_left_a_test_out_leaves_a_gap(tmp_path):
    write_events(tmp_path, run(batches(1, 16)))
    write_events(tmp_path, run(batches(16)))
    write_events(tmp_path, run(batches(1, 16)))
    at = [
        [at for at, _ in points(tmp_path / COSTS / f"batch-{size}-cpu-test-cpu-9000", "step us/wall")]
        for size in (1, 16)
    ]
    assert at == [[1, 3], [1, 2, 3]]


def test_of_a_test_that_ran_twice_the_last_result_counts(tmp_path):
    write_events(tmp_path, run([result(step(every=2.0)), result(step(every=3.0))]))
    assert points(tmp_path / COSTS / "batch-16-cpu-test-cpu-9000", "step us/host") == [(1, 3000.0)]


def test_checks_of_one_test_are_told_apart_by_their_names(tmp_path):
    write_events(tmp_path, run([result(check="decode"), result(check="Decode"), result(check=None)]))
    assert runs_of(tmp_path) == [
        f"{COSTS}/batch-16-cpu-test-cpu-9000",
        f"{COSTS}/decode-1ae3fcff/batch-16-cpu-test-cpu-9000",
        f"{COSTS}/decode/batch-16-cpu-test-cpu-9000",
    ]


@pytest.mark.parametrize("name", ["../../../etc", "..", "", "a/b", "x" * 300, "größe", "a\nb", "CON:"])
def test_no_name_leads_out_of_the_folder(tmp_path, name):
    write_events(tmp_path / "tb", run([result(check=name, test=f"tests/../{name}.py::test_step")]))
    assert [path.name for path in tmp_path.iterdir()] == ["tb"]
    assert len(runs_of(tmp_path / "tb")) == 1


def test_the_top_ten_are_a_table_in_words(tmp_path):
    moved = finding(Kind.DEARER, message="aten::mm | moved")
    write_events(tmp_path, run([result(step(), Outcome.DRIFTED, moved, top=1)]))
    (told,) = words(tmp_path / COSTS / "batch-16-cpu-test-cpu-9000", "top operators")
    assert told.splitlines() == [
        "`tests/test_a.py::test_step[cpu-16]`: drifted, step 1.23 ms, on cpu-test-cpu-9000-1-thread-torch2.11",
        "",
        "| operator                   | family | calls | host us |  share | MFLOP | GFLOP/s |",
        "| -------------------------- | ------ | ----: | ------: | -----: | ----: | ------: |",
        "| `aten::mkldnn_convolution` | conv   |     1 |   400.0 | 40.0 % |       |         |",
        "| `other`                    | other  |     5 |   600.0 | 60.0 % |       |         |",
        "",
        r"- `aten::mm` \| moved",
    ]


def test_the_graph_is_the_newest_run_s_with_its_compute_times(tmp_path):
    write_events(tmp_path, run([result(flowing())]))
    write_events(
        tmp_path, run([result(replace(step(), flow=replace(FLOW, nodes=FLOW.nodes[:3], edges=FLOW.edges[:2])))])
    )
    accumulator = read(tmp_path / COSTS / "batch-16-cpu-test-cpu-9000")
    assert [node.name for node in accumulator.Graph().node] == ["input", "layer1/0/weight", "layer1/0/convolution"]
    (stats,) = accumulator.RunMetadata("self time of one step").step_stats.dev_stats
    assert sorted(one.node_name for one in stats.node_stats) == ["input", "layer1/0/convolution", "layer1/0/weight"]


def test_the_backward_part_is_a_picture_where_it_can_be_drawn(tmp_path, monkeypatch):
    figures = pytest.importorskip("matplotlib.figure")
    drawn = []

    def phases_figure(flow, total_us):
        drawn.append((flow, total_us))
        return figures.Figure(figsize=(2, 1))

    drawing = ModuleType("pytest_opcost.report.drawing")
    drawing.phases_figure = phases_figure
    monkeypatch.setitem(sys.modules, "pytest_opcost.report.drawing", drawing)
    forward = replace(FLOW, nodes=FLOW.nodes[:5], edges=FLOW.edges[:4])
    write_events(tmp_path, run([result(flowing()), result(replace(step(), flow=forward), batch_size=1)]))
    assert drawn == [(FLOW, 1000.0)]
    folder = tmp_path / COSTS / "batch-16-cpu-test-cpu-9000"
    (image,) = read(folder).Images("forward, backward and optimizer")
    assert image.encoded_image_string.startswith(b"\x89PNG")
    assert (image.width > 100, image.height > 50) == (True, True)


def test_a_training_s_curves(tmp_path):
    write_events(tmp_path, run(trainings=[training(costs=(("start", step()), ("end", step(every=2.0))))]))
    folder = tmp_path / "training/run-0001-2026-11-28t10-15-30/lenet-batch-16-cpu"
    assert points(folder, "training, by step/loss") == [(5, 2.0), (10, 1.0), (15, 0.5), (20, 0.25)]
    assert points(folder, "training, by step/accuracy") == [(5, 0.25), (10, 0.5), (15, 0.75), (20, 0.875)]
    assert points(folder, "test, by epoch/loss") == [(1, 0.75), (2, 0.125)]
    assert points(folder, "test, by epoch/accuracy") == [(1, pytest.approx(0.8)), (2, pytest.approx(0.96))]
    assert points(folder, "seconds, by epoch/training steps") == [(1, 4.0), (2, 6.0)]
    assert points(folder, "training cost at start, middle, end/conv/addmm") == [(1, 2.0), (3, 2.0)]
    first, last = words(folder, "top operators at start, middle, end")
    assert "| `aten::addmm` " in first
    assert last.startswith("At the end of the training")


def test_a_training_s_points_lie_as_far_apart_as_its_steps_took(tmp_path):
    write_events(tmp_path, run(trainings=[training()]))
    accumulator = read(tmp_path / "training/run-0001-2026-11-28t10-15-30/lenet-batch-16-cpu")
    begun = 1795857330.0  # 10:15:30+01:00
    times = [point.wall_time - begun for point in accumulator.Scalars("training, by step/loss")]
    assert times == [2.5, 5.0, 7.5, 10.0]
    assert [point.wall_time - begun for point in accumulator.Scalars("test, by epoch/loss")] == [5.0, 10.0]


def test_a_training_that_ended_before_its_first_epoch(tmp_path):
    cut = training(test_losses=(), test_accuracies=(), epoch_seconds=(), interrupted=True)
    write_events(tmp_path, run(trainings=[cut]))
    accumulator = read(tmp_path / "training/run-0001-2026-11-28t10-15-30/lenet-batch-16-cpu")
    assert accumulator.Tags()["scalars"] == ["training, by step/loss", "training, by step/accuracy"]


def test_each_run_s_training_has_a_folder_of_its_own_with_its_start_in_the_name(tmp_path):
    write_events(tmp_path, run(trainings=[training()]))
    write_events(tmp_path, run(trainings=[training()], started="2026-11-29T08:00:00+01:00"))
    write_events(tmp_path, run(trainings=[training()], started="2026-11-29T08:00:00+01:00"))
    assert runs_of(tmp_path) == [
        "training/run-0001-2026-11-28t10-15-30/lenet-batch-16-cpu",
        "training/run-0002-2026-11-29t08-00-00/lenet-batch-16-cpu",
        "training/run-0003-2026-11-29t08-00-00/lenet-batch-16-cpu",
    ]


def test_hyperparameters_are_a_session_whose_metrics_are_the_folder_s_scalars(tmp_path):
    write_events(tmp_path, run(trainings=[training(), training(batch_size=64)]))
    multiplexer = EventMultiplexer().AddRunsFromDirectory(str(tmp_path)).Reload()
    found = multiplexer.PluginRunToTagToContent("hparams")
    name = "training/run-0001-2026-11-28t10-15-30/lenet-batch-64-cpu"
    assert sorted(found) == [name.replace("64", "16"), name]
    start = metadata.parse_session_start_info_plugin_data(found[name]["_hparams_/session_start_info"])
    values = {key: value.string_value or value.number_value for key, value in start.hparams.items()}
    assert values == {
        "batch size": 64.0,
        "device": "Test CPU 9000",
        "epochs": 2.0,
        "images": 160.0,
        "learning rate": 1.0,
        "loop": "eager",
        "model": "LeNet",
        "optimizer": "Adadelta",
        "torch": "2.11.0+cpu",
    }
    assert start.group_name == name
    assert "_hparams_/session_end_info" in found[name]
    assert ("test, by epoch/accuracy", 2) in {
        (tag, multiplexer.Tensors(name, tag)[-1].step) for tag in multiplexer.GetAccumulator(name).Tags()["tensors"]
    }


def test_the_training_images_are_a_grid(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pixels = b"".join(bytes([255 - number]) * 784 for number in range(5)) + b"torn"
    write_events(tmp_path, run(images=pixels))
    (shown,) = read(tmp_path / "data").Images("training images")
    grid = image.open(io.BytesIO(shown.encoded_image_string))
    # Two rows of three, 28 pixels and a gap of 2 each.
    assert grid.size == (shown.width, shown.height) == (92, 62)
    places = [(2 + 30 * column, 2 + 30 * row) for row in range(2) for column in range(3)]
    assert [grid.getpixel(place) for place in places] == [255, 254, 253, 252, 251, 96]
    assert grid.getpixel((29, 29)) == 255
    assert grid.getpixel((30, 30)) == 96


def test_a_run_that_found_nothing_leaves_no_curves(tmp_path):
    write_events(tmp_path / "tb", run())
    assert runs_of(tmp_path / "tb") == []
