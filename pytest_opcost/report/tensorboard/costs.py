"""One check as TensorBoard's events: its costs as points of curves over runs, its top ten, its graph and picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.report.gfm import code, plain, sentence, table
from pytest_opcost.report.operators import operator_rows
from pytest_opcost.report.quantities import short_time
from pytest_opcost.report.tensorboard.events import graph, picture, scalar, text
from pytest_opcost.report.tensorboard.graphs import graph_of
from pytest_opcost.report.tensorboard.pictures import autograd_png

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tensorboard.compat.proto.event_pb2 import Event

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.results import CheckResult

#: Operators of this share, or among the top ones, have a curve of their own: rank alone would make curves with gaps.
_SHARE_OF_A_CURVE = 0.005


def run_events(result: CheckResult, run: int, now: float) -> Iterator[Event]:
    """What one run of pytest adds to a configuration's folder: a point of each curve, and the top ten in words."""
    for tag, value in _figures(result).items():
        yield scalar(tag, value, run, now)
    yield text("top operators", "\n".join(_words(result)), run, now)


def latest_events(profile: CostProfile, device: str, run: int, now: float) -> Iterator[Event]:
    """What only the newest run is asked for: the data flow as a graph, and with its phases as a picture."""
    if profile.flow is None or not profile.flow.nodes:
        return
    yield from graph(*graph_of(profile.flow, device), "self time of one step", now)
    if (png := autograd_png(profile)) is not None:
        yield picture("forward, backward and optimizer", png, run, now)


def _figures(result: CheckResult) -> dict[str, float]:
    profile = result.profile
    figures = {"step us/wall": profile.wall_us, "step us/host": profile.total_host_us}
    if profile.clock == "device":
        figures["step us/device"] = profile.total_device_us
    if result.subject.batch_size:
        figures["step us/wall, an image"] = profile.wall_us / result.subject.batch_size
    if profile.cold is not None:
        figures["step us/wall, first and cold"] = profile.cold.wall_us
    if profile.flops:
        figures["step MFLOP/all operators"] = profile.flops / 1e6
    figures |= {f"ratio/{name}": value for name, value in result.ratios.items()}
    families: dict[str, float] = {}
    for rank, op in enumerate(profile.ops):
        if op.waits:
            continue
        families[op.family] = families.get(op.family, 0.0) + profile.cost_us(op)
        if rank < result.top or op.share >= _SHARE_OF_A_CURVE:
            figures[f"operator {profile.clock} us/{op.name}"] = profile.cost_us(op)
    return figures | {f"family {profile.clock} us/{family}": us for family, us in families.items()}


def _words(result: CheckResult) -> Iterator[str]:
    profile = result.profile
    verdict, machine = result.verdict.outcome.words, plain(profile.environment.machine_key)
    yield f"{code(result.subject.title)}: {verdict}, step {short_time(profile.wall_us)}, on {machine}"
    yield ""
    yield from top_table(profile, result.top)
    for finding in result.verdict.findings:
        yield ""
        yield f"- {sentence(finding.text)}"


def top_table(profile: CostProfile, top: int) -> list[str]:
    """The dearest operators as a Markdown table, on the clock that counts."""
    headers, rows = operator_rows(profile, profile.clock, top, inclusive=True)
    return table(headers, [[code(name), *rest] for name, *rest in rows], left=2)
