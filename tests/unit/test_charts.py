"""Charts: what is in them, and that they are the same in every run."""

from __future__ import annotations

import re
from dataclasses import replace
from io import BytesIO
from xml.etree import ElementTree

import pytest

pytest.importorskip("matplotlib")

from made_up import made_up_profile, made_up_result, made_up_training
from records import op, profile

from pytest_opcost.judge import Compared
from pytest_opcost.report import charts
from pytest_opcost.report.saving import as_png, as_svg

BATCHES = [made_up_result("tests/test_a.py::test_step", batch) for batch in (1, 16, 64)]


def words(figure):
    """The texts of a chart, as they stand in its SVG."""
    tree = ElementTree.fromstring(as_svg(figure))
    return [part.text for part in tree.iter("{http://www.w3.org/2000/svg}text")]


def every_chart():
    yield charts.operator_bars(made_up_profile(16), "host")
    yield charts.ratio_curve(BATCHES)
    yield charts.cold_chart([("cpu, batch 1", 90_000.0, 800.0)])
    yield charts.change_chart(BATCHES[0].verdict.compared)
    yield charts.training_curves([made_up_training()])


def test_svg_is_transparent_text_and_the_same_every_time():
    for first, second in zip(every_chart(), every_chart()):
        one = as_svg(first, "name")
        assert one == as_svg(second, "name")
        assert "fill: #ffffff" not in one
        assert "font-family" not in one
        assert "<text" in one
        ElementTree.fromstring(one)


def test_colours_follow_the_page_and_ids_are_unique_among_charts():
    texts = [as_svg(figure, str(index)) for index, figure in enumerate(every_chart())]
    for text in texts:
        assert set(re.findall(r"(?<!, )(?<!\()#[0-9a-f]{6}\b", text)) <= {"#ffffff"}
    ids = [found for text in texts for found in re.findall(r" id=\"([^\"]+)\"", text)]
    assert len(ids) == len(set(ids)) > 0
    for text in texts:
        assert set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", text)) <= {
            pair for one in re.findall(r" id=\"([^\"]+)\"", text) for pair in ((one, ""), ("", one))
        }


def test_a_chart_is_named_for_who_cannot_see_it():
    text = as_svg(charts.operator_bars(made_up_profile(1), "host"), "<Bars> & more", "what they say")
    assert text.startswith(
        '<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" aria-label="&lt;Bars&gt; &amp; more" viewBox='
    )
    assert "<title>&lt;Bars&gt; &amp; more</title><desc>what they say</desc>" in text


def test_names_of_operators_are_text_and_nothing_else():
    odd = profile(op("<script>alert(1)</script>", 2.0), op(r"$\frac{1}{0}$ & more", 1.0))
    text = as_svg(charts.operator_bars(odd, "host"))
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert r"$\frac{1}{0}$ &amp; more" in text


def test_bars_tell_time_and_share_of_their_clock():
    told = words(charts.operator_bars(made_up_profile(16, device=True), "device", 3))
    assert told[0:2] == ["convolution_backward", "78.0 µs, 40.3 %"]
    assert told[-2] == "other"
    assert len(told) == 8


def test_the_curve_needs_two_batch_sizes():
    assert charts.ratio_curve(BATCHES[:1]) is None
    assert charts.ratio_curve([replace(one, ratios={}) for one in BATCHES]) is None
    told = words(charts.ratio_curve(BATCHES))
    assert {"1", "16", "64", "conv/addmm", "batch size"} <= set(told)


def test_a_line_a_device():
    told = words(charts.ratio_curve([*BATCHES, *(made_up_result("t::a", batch, "cuda") for batch in (1, 16))]))
    assert {"conv/addmm, cpu", "conv/addmm, cuda"} <= set(told)


def test_figures_at_the_ends_of_curves_do_not_lie_over_each_other():
    ratios = {"conv/addmm": 7.44, "conv/addmm forward": 7.40, "pool/addmm": 1.0}
    figure = charts.ratio_curve([replace(one, ratios=ratios) for one in BATCHES])
    figure.canvas.draw()
    places = {note.get_text(): note.get_window_extent() for axes in figure.axes for note in axes.texts}
    assert places.keys() == {"7.44", "7.40", "1.00"}
    assert not places["7.44"].overlaps(places["7.40"])
    assert places["7.44"].y0 > places["7.40"].y0


def test_a_training_of_one_epoch_is_marked_at_its_end():
    one = replace(made_up_training(), test_losses=(0.3,), test_accuracies=(0.9,), steps=(8, 16), losses=(1.0, 0.5))
    figure = charts.training_curves([replace(one, accuracies=(0.5, 0.8), images=1024, epochs=1)])
    figure.canvas.draw()
    low, high = figure.axes[0].get_xlim()
    assert [place for place in figure.axes[0].get_xticks() if low <= place <= high] in ([0.0, 1.0], [1.0])


def test_cold_against_warm():
    assert charts.cold_chart([("a", 0.0, 1.0)]) is None
    assert words(charts.cold_chart([("a", 90_000.0, 900.0), ("b", 5.0, 5.0)])) == [
        "a", "90.0 ms → 900 µs, 100×", "b", "5.00 µs → 5.00 µs, 1.0×",  # noqa: RUF001
    ]  # fmt: skip


def test_changes_beyond_their_band_have_a_colour():
    within, dearer, cheaper = (Compared("aten::mm", 10.0, 11.0, own, 0.2) for own in (0.1, 0.5, -0.4))
    assert charts.change_chart([]) is None
    assert [within.within, dearer.within, cheaper.within] == [True, False, False]
    drawn = [as_svg(charts.change_chart([one])) for one in (within, dearer, cheaper)]
    assert ["--bad" in text for text in drawn] == [False, True, False]
    assert ["--series-3" in text for text in drawn] == [False, False, True]


def test_a_huge_change_does_not_leave_the_chart():
    (svg,) = [as_svg(charts.change_chart([Compared("aten::mm", 1.0, 900.0, 899.0, 0.1)]))]
    places = [float(x) for x in re.findall(r"<use [^>]*x=\"([\d.]+)\"", svg)]
    assert max(places) < 446


def test_curves_of_trainings_and_of_one_that_ended_early():
    early = replace(made_up_training(16), test_losses=(), test_accuracies=(), epoch_seconds=(), interrupted=True)
    told = words(charts.training_curves([made_up_training(64), early]))
    assert {"cpu, batch 64", "cpu, batch 16", "epoch", "loss", "accuracy, %"} <= set(told)


def test_a_png_is_white_and_the_same_every_time():
    from matplotlib.image import imread

    first, second = (as_png(charts.operator_bars(made_up_profile(1), "host")) for _ in range(2))
    assert first == second
    assert list(imread(BytesIO(first))[0, 0]) == [1.0, 1.0, 1.0, 1.0]


def test_any_alphabet_and_no_control_characters():
    odd = profile(op("my::卷积", 2.0), op("my::\x00\x1b[31m", 1.0))
    told = words(charts.operator_bars(odd, "host"))
    assert "my::卷积" in told
    assert "my::??[31m" in told
