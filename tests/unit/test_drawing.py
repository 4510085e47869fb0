"""Pictures of data flows made by hand: what is in them, and that they are the same each time."""

from __future__ import annotations

import re
import struct
from functools import partial
from io import BytesIO
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("networkx")

from flows import TRAINED, call, chain, entering, parameter

from pytest_opcost.flow import DataFlow
from pytest_opcost.report.drawing import flow_figure, phases_figure
from pytest_opcost.report.drawing.flow import MOST_BOXES
from pytest_opcost.report.drawing.painting import _fill, with_share
from pytest_opcost.report.drawing.phases import MOST_ROWS
from pytest_opcost.report.saving import as_png
from pytest_opcost.report.saving import as_svg as saved

as_svg = partial(saved, scales=False)
SVG = "{http://www.w3.org/2000/svg}"


def texts(figure):
    """All texts of a picture, as a reader of the page finds them."""
    return ["".join(one.itertext()).strip() for one in ElementTree.fromstring(as_svg(figure)).iter(f"{SVG}text")]


def arrows(figure):
    return [patch for patch in figure.axes[0].patches if type(patch).__name__ == "FancyArrowPatch"]


def places(figure):
    """Where each box's title stands, in inches."""
    return {one.get_text(): one.get_position() for one in figure.axes[0].texts}


def test_each_call_of_the_forward_is_a_box_with_output_cost_and_share():
    assert texts(flow_figure(TRAINED, 1000.0)) == [
        "Forward: 360 µs, 36 % of all operators' time", "the darker, the larger its share of that",
        "input", "f32[2,1]",
        "convolution · conv", "f32[2]   200 µs, 20 %",
        "relu · Net", "f32[2]   50 µs, 5.0 %",
        "t · block.fc", "f32[2]   5 µs, 0.5 %",
        "addmm · block.fc", "f32[2,5]   95 µs, 9.5 %",
        "nll_loss_forward", "f32[2]   10 µs, 1.0 %",
    ]  # fmt: skip


def test_arrows_go_from_top_to_bottom():
    figure = flow_figure(TRAINED, 1000.0)
    assert len(arrows(figure)) == 5
    down = [places(figure)[title][1] for title in ("input", "convolution · conv", "relu · Net", "addmm · block.fc")]
    assert down == sorted(down)


def test_calls_apart_from_all_others_are_left_out():
    flow = DataFlow((entering(), call("relu", "a", 5), parameter("n"), call("add_", "bn", 1)), ((0, 1), (2, 3)))
    assert "add_ · bn" not in texts(flow_figure(flow, 10.0))
    alone = DataFlow((call("rand", "a", 5),))
    assert "rand · a" in texts(flow_figure(alone, 10.0))


def test_many_calls_are_drawn_as_runs_of_modules():
    layers = [call(name, f"layers.{at}.{name}", 1.0) for at in range(50) for name in ("addmm", "relu", "mul")]
    assert len(layers) > MOST_BOXES
    found = texts(flow_figure(chain(entering(), *layers), 300.0))
    assert "calls that follow each other in a module are one box" in found[1]
    assert found[2:6] == ["input", "f32[2,1]", "layers.0", "addmm, relu +1   3 µs, 1.0 %"]
    assert len(found) == 2 + 2 * 51


def test_long_names_keep_what_tells_them_apart():
    path = "encoder.layers.11.self_attention.out_projection"
    found = texts(flow_figure(chain(entering(), call("_native_batch_norm_legit_no_training", path)), 1.0))
    assert found[4] == "_native_batch_norm_legit_… · …_attention.out_projection"


def test_of_several_outputs_the_first_is_told():
    found = texts(flow_figure(chain(entering(), call("max_pool2d", "", 1, output="f32[1] i64[1]")), 10.0))
    assert found[5] == "f32[1] +1   1 µs, 10 %"


def test_phases_are_three_lanes_and_each_module_s_backward_stands_beside_its_forward():
    figure = phases_figure(TRAINED, 1000.0)
    found = texts(figure)
    assert found[:6] == [
        "Forward", "360 µs, 36 %", "Backward", "540 µs, 54 %", "Optimizer", "90 µs, 9.0 %",
    ]  # fmt: skip
    boxes = list(zip(found[6::2], found[7::2]))
    assert boxes == [
        ("conv", "convolution   200 µs, 20 %"),
        ("Net", "relu   50 µs, 5.0 %"),
        ("block.fc", "addmm, t   100 µs, 10 %"),
        ("outside of modules", "nll_loss_forward   10 µs, 1.0 %"),
        ("outside of modules", "nll_loss   10 µs, 1.0 %"),
        ("block.fc", "mm   130 µs, 13 %"),
        ("Net", "threshold   40 µs, 4.0 %"),
        ("conv", "convolution, add   360 µs, 36 %"),
        ("conv", "add_   20 µs, 2.0 %"),
        ("block.fc", "add_   70 µs, 7.0 %"),
    ]
    titles = [(one.get_text(), *one.get_position()) for one in figure.axes[0].texts][6::2]
    down = {title: {round(y, 3) for name, _, y in titles if name == title} for title, _, _ in titles}
    assert all(len(rows) == 1 for rows in down.values())
    lanes = sorted({round(x, 3) for _, x, _ in titles})
    assert len(lanes) == 3


def test_the_second_call_of_a_module_meets_its_backward_first():
    flow = chain(
        call("relu", "act", 1), call("mm", "fc", 1), call("relu", "act", 2),
        call("threshold_backward", "act", 20, "backward"), call("mm", "fc", 1, "backward"),
        call("threshold_backward", "act", 10, "backward"),
    )  # fmt: skip
    rows = {one.get_text(): one.get_position()[1] for one in phases_figure(flow, 100.0).axes[0].texts}
    assert rows["relu   1 µs, 1.0 %"] == rows["threshold   10 µs, 10 %"]
    assert rows["relu   2 µs, 2.0 %"] == rows["threshold   20 µs, 20 %"]


def test_an_optimizer_that_updates_all_at_once_has_one_box():
    flow = DataFlow(
        (parameter("a.weight"), parameter("b.weight"), call("mm", "a", 1), call("mm", "b", 1),
         call("_foreach_add_", "", 8, "optimizer"), call("_foreach_mul_", "", 1, "optimizer")),
        ((0, 2), (1, 3), (2, 3), (0, 4), (1, 4), (4, 5)),
    )  # fmt: skip
    found = texts(phases_figure(flow, 100.0))
    assert found[-2:] == ["all parameters", "_foreach_add_, _foreach_mul_   9 µs, 9.0 %"]


def test_what_updates_no_parameter_of_one_module_stands_below():
    nodes = (*TRAINED.nodes, call("sub_", "", 3, "optimizer"))
    figure = phases_figure(DataFlow(nodes, TRAINED.edges), 1000.0)
    lowest = max(places(figure).items(), key=lambda place: place[1][1])
    assert lowest[0] == "sub_   3 µs, 0.3 %"
    assert "of no single module" in texts(figure)


def test_inference_has_one_lane():
    found = texts(phases_figure(chain(entering(), call("mm", "fc", 4)), 10.0))
    assert found == ["Forward", "4 µs, 40 %", "fc", "mm   4 µs, 40 %"]


def test_a_deep_model_is_drawn_as_deep_as_there_is_room():
    calls = [call("mm", f"layers.{at}.{part}", 1) for at in range(10) for part in ("q", "k", "v")]
    assert len(calls) > MOST_ROWS
    assert texts(phases_figure(chain(*calls), 30.0))[2::2] == [f"layers.{at}" for at in range(10)]
    loop = [call("mm", one, 1) for _ in range(MOST_ROWS) for one in ("a", "b")]
    assert texts(phases_figure(chain(*loop), 48.0))[2:] == ["outside of modules", "mm   48 µs, 100 %"]


@pytest.mark.parametrize("figure_of", [flow_figure, phases_figure])
@pytest.mark.parametrize("flow", [DataFlow(), DataFlow((entering(),)), chain(call("mm", "", 0))])
def test_steps_of_next_to_nothing_have_pictures_too(figure_of, flow):
    assert as_svg(figure_of(flow, 0.0)).startswith("<svg")


@pytest.mark.parametrize("figure_of", [flow_figure, phases_figure])
def test_the_same_flow_gives_the_same_text(figure_of):
    one, other = (as_svg(figure_of(TRAINED, 1000.0)) for _ in range(2))
    assert one == other
    assert re.search(r"\d\d:\d\d|202\d-", one) is None


def test_an_svg_stands_in_a_page_by_itself():
    svg = as_svg(phases_figure(TRAINED, 1000.0), 'Phases of "Net" & <more>')
    root = ElementTree.fromstring(svg)
    assert svg.startswith("<svg ")
    assert root.get("role") == "img"
    assert root.get("aria-label") == 'Phases of "Net" & <more>'
    assert not re.search(r"<\?xml|<!DOCTYPE|<!--|<metadata|<script|<image", svg)
    assert "currentColor" in svg
    referred = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg))
    ids = re.findall(r' id="([^"]*)"', svg)
    assert len(ids) == len(set(ids))
    assert set(ids) == referred


def test_ids_of_two_pictures_never_meet():
    one, other = as_svg(phases_figure(TRAINED, 1000.0)), as_svg(phases_figure(TRAINED, 2000.0))
    ids = [set(re.findall(r' id="([^"]*)"', svg)) for svg in (one, other)]
    assert not ids[0] & ids[1]


def test_names_are_text_and_nothing_else():
    nasty = ["</text><script>alert(1)</script>", "$\\frac{1}{2}$", "a\x1b[31m\x00b", "layer\u0644\u4e2d"]
    found = texts(flow_figure(chain(entering(), *(call("mm", name, 1) for name in nasty)), 10.0))
    assert found[4] == f"mm · …{nasty[0][-25:]}"
    assert found[6] == f"mm · {nasty[1]}"
    assert found[8] == "mm · a?[31m?b"
    assert found[10] == f"mm · {nasty[3]}"


def test_a_png_is_transparent():
    figure = flow_figure(TRAINED, 1000.0)
    data = as_png(figure)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == pytest.approx(figure.get_size_inches() * 144, abs=1)
    from matplotlib.image import imread

    assert imread(BytesIO(data))[0, 0, 3] == 0


def test_what_the_user_has_set_for_matplotlib_changes_no_text():
    import matplotlib

    with matplotlib.rc_context({"text.usetex": True, "svg.fonttype": "path", "axes.facecolor": "red"}):
        assert as_svg(flow_figure(TRAINED, 1000.0)) == as_svg(flow_figure(TRAINED, 1000.0))
        assert "relu · Net" in texts(flow_figure(TRAINED, 1000.0))


def test_shares_are_told_as_finely_as_they_are_read():
    assert [with_share(us, 1000.0) for us in (0.0, 0.4, 0.6, 99.0, 100.0, 1000.0)] == [
        "0 µs, 0.0 %", "0.4 µs, <0.1 %", "0.6 µs, 0.1 %", "99 µs, 9.9 %", "100 µs, 10 %", "1 ms, 100 %",
    ]  # fmt: skip


def test_the_larger_a_share_the_darker_its_box():
    def light(share):
        red, green, blue = _fill(share)
        return 0.299 * red + 0.587 * green + 0.114 * blue

    shades = [light(share) for share in (0, 0.01, 0.05, 0.1, 0.3, 0.6, 1, 2)]
    assert shades[:7] == sorted(shades[:7], reverse=True)
    assert len(set(shades[:7])) == 7
    assert shades[7] == shades[6]
