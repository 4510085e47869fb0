"""The Lab's first results: the data-flow graph, the curves of loss and accuracy, the ten operators used most."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pytest_opcost.families import DEFAULT_RATIO
from pytest_opcost.report.charts import operator_bars, training_curves
from pytest_opcost.report.gfm import code, plain, table
from pytest_opcost.report.grouping import configuration, groups
from pytest_opcost.report.markdown.titles import SIZE, titled
from pytest_opcost.report.operators import clocks, operator_rows
from pytest_opcost.report.quantities import accuracy_text
from pytest_opcost.report.trainings import training_views

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.flow import DataFlow
    from pytest_opcost.report.markdown.pictures import Pictures
    from pytest_opcost.report.trainings import TrainingView
    from pytest_opcost.results import RunResults
    from pytest_opcost.training import Training

#: More calls than this are a list that nobody reads.
_MOST_CALLS = 60
_NAMES = (
    "A call has the name that the model's code gives it, and the time of all that it called in turn; below, operators "
    "have the names of what ran."
)
_VIEWS = {"device": "Device view, by kernel time:", "host": "Host view, by the CPU's time:"}


def flow_section(run: RunResults, pictures: Pictures) -> Iterator[str]:
    """The data-flow graph of each test's step: drawn, and its forward phase as a list of calls."""
    yield from ("#### Data-flow graph", "")
    shown = False
    for group in groups(run.checks):
        known = [one for one in group.members if one.profile.flow is not None and one.profile.flow.nodes]
        if not known:
            continue
        if not shown:
            yield from (_NAMES, "")
        shown, last = True, known[-1]
        assert last.profile.flow is not None
        yield from (f"**{titled(group)}**, {plain(configuration(last.subject, SIZE))}", "")
        yield from _drawn(last.profile, last.profile.flow, last.subject.family, pictures)
        yield from _calls(last.profile.flow)
    if not shown:
        yield from ("No step's data flow was recorded in this run.", "")


def _drawn(profile: CostProfile, flow: DataFlow, test: str, pictures: Pictures) -> list[str]:
    from pytest_opcost.report.drawing import flow_figure, phases_figure

    lines = pictures.add(f"Data flow of {test}", flow_figure(flow, profile.total_us))
    if flow.has_backward:
        title = f"Forward, backward and optimizer of {test}"
        lines += pictures.add(title, phases_figure(flow, profile.total_us))
    return lines


def _calls(flow: DataFlow) -> Iterator[str]:
    sources: dict[int, list[int]] = defaultdict(list)
    for source, target in flow.edges:
        sources[target].append(source)
    calls = [index for index, node in enumerate(flow.nodes) if node.place.phase == "forward" and node.is_call]
    number = {index: str(place) for place, index in enumerate(calls, 1)}

    def row(index: int) -> list[str]:
        node = flow.nodes[index]
        taken = [number.get(source, code(flow.nodes[source].name)) for source in dict.fromkeys(sources[index])]
        words = [code(node.name), code(node.place.module) if node.place.module else "", ", ".join(taken)]
        return [number[index], *words, code(node.output) if node.output else "", f"{node.cost_us:,.1f}"]

    rows = [row(index) for index in calls[:_MOST_CALLS]]
    yield from table(["call", "operator", "module", "takes", "makes", "µs"], rows, left=5)
    if more := len(calls[_MOST_CALLS:]):
        yield from ("", f"and {more} more calls of the forward phase.")
    yield ""


def curves_section(run: RunResults, pictures: Pictures) -> Iterator[str]:
    """Loss and accuracy of each model's trainings, drawn, and the last figures of each as a table."""
    yield from ("#### Loss and accuracy", "")
    if not run.trainings:
        why = "nothing was trained, as a test that takes `lenet_training` does, or not for long enough"
        yield from (f"This run has no curves: {why}.", "")
    for view in training_views(run.trainings):
        yield from (f"**{plain(view.model)}**", "")
        yield from pictures.add(f"Loss and accuracy of {view.model}", training_curves(view.trainings))
        yield from ("Lines: the batches trained on. Points: the test images after each epoch.", "")
        headers = ["device", "loop", "batch size", "epochs", "test accuracy", "mean test loss", "s an epoch"]
        yield from table(headers, [_training_row(one) for one in view.trainings], left=2)
        yield ""
        for recipe in view.recipes:
            yield from (plain(recipe), "")
        yield from _costs(view)


def _costs(view: TrainingView) -> Iterator[str]:
    """What a step cost while it was trained: at the start, in the middle and at the end."""
    rows = [
        [plain(row.training.device), str(row.training.batch_size), plain(when), step, ratio]
        for row in view.rows
        for when, step, ratio in row.costs
    ]
    if rows:
        yield from ("What a step cost during training:", "")
        yield from table(["device", "batch size", "profiled at the", "its operators", DEFAULT_RATIO], rows, left=3)
        yield ""


def _training_row(one: Training) -> list[str]:
    done = len(one.test_accuracies)
    seconds = "" if one.mean_epoch_seconds is None else f"{one.mean_epoch_seconds:.3g}"
    right = round(one.test_accuracies[-1] * one.test_images) if done else 0
    accuracy = f"{accuracy_text(one.test_accuracies[-1])} ({right:,} of {one.test_images:,})" if done else ""
    loss = f"{one.test_losses[-1]:.4f}" if done else ""
    epochs = f"{done} of {one.epochs}" + (", interrupted" if one.interrupted else "")
    return [plain(one.device), plain(one.loop), str(one.batch_size), epochs, accuracy, loss, seconds]


def operators_section(run: RunResults, pictures: Pictures) -> Iterator[str]:
    """The dearest operators of each test on each device at its largest batch size; a device's host time apart."""
    yield from ("#### The operators used most", "")
    for group in groups(run.checks):
        for members in group.devices.values():
            result = members[-1]
            profile, where = result.profile, configuration(result.subject, SIZE)
            yield from (f"**{titled(group)}**, {plain(where)}", "")
            title = f"Operators of {result.subject.title}, {where}"
            for clock in clocks(profile):
                if profile.clock == "device":
                    yield from (_VIEWS[clock], "")
                if clock == profile.clock:
                    yield from pictures.add(title, operator_bars(profile, clock, result.top))
                headers, rows = operator_rows(profile, clock, result.top, inclusive=True, micro="µs")
                yield from table(headers, [[code(name), *rest] for name, *rest in rows], left=2)
                yield ""
    if not run.checks:
        yield from ("No step was profiled in this run.", "")
