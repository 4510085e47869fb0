"""Why a step costs what it costs now, in words: a table of small detectors over what differs exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pytest_opcost.judge.causes import fusing, kernels, loops, modes, moving, rest, settings, sizes, training, types
from pytest_opcost.judge.causes.change import Change
from pytest_opcost.judge.causes.delta import Cause
from pytest_opcost.judge.causes.rest import TIME_ONLY
from pytest_opcost.judge.verdict import EXACT, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Set

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.judge.verdict import Finding

    Detector: TypeAlias = "Callable[[Change], Iterator[Cause]]"

__all__ = ["TIME_ONLY", "Cause", "causes"]

#: Each looks at what those before it left open: first what explains much (a setting, an element type, a size), then
#: single habits that are known by their operators, last what is only told.
DETECTORS: tuple[Detector, ...] = (
    settings.switched,
    types.float64,
    types.half_lost,
    types.half_gained,
    loops.recomputed,
    loops.repeated,
    loops.looped,
    sizes.layer_resized,
    sizes.output_grew,
    sizes.input_resized,
    modes.autograd,
    modes.dropout,
    modes.batch_norm,
    modes.anomaly_detection,
    training.foreach_off,
    training.gradients_zeroed,
    training.dense_gradient,
    training.optimizer_changed,
    fusing.fused_split,
    fusing.in_place_lost,
    moving.transfers,
    moving.read_on_host,
    moving.synchronisations,
    moving.built_each_step,
    kernels.layout,
    kernels.layout_of_kernels,
    kernels.backend,
    moving.copy_added,
    rest.operators,
    kernels.kernel,
    rest.facts,
)


def causes(old: CostProfile, new: CostProfile, findings: Iterable[Finding]) -> tuple[Cause, ...]:
    """Why `new` differs from `old` as `findings` say, what explains the most first; each finding has one cause at most.

    What costs more though nothing differs exactly has one cause, the first where what does differ are operators that
    became cheaper; there is none where nothing fails.
    """
    findings = tuple(findings)
    if not any(finding.fails for finding in findings):
        return ()
    change, told = Change.between(old, new, _telling(findings)), []
    if not any(finding.fails or _renames(finding) for finding in change.findings):
        return tuple(rest.time_only(findings, old, new))
    for detect in DETECTORS:
        for cause in detect(change):
            told.append(cause)
            change = change.without(cause.explains)
    besides = tuple(rest.time_only([one for one in findings if one.kind is not Kind.RATIO], old, new, change.explained))
    return (*besides, *told) if besides and _cheaper(change.explained, old, new) else (*told, *besides)


def _cheaper(names: Set[str], old: CostProfile, new: CostProfile) -> bool:
    """Whether these are operators alone, and cost less together: a setting may be why others cost more."""
    was, now = ({op.name: one.cost_us(op) for op in one.ops} for one in (old, new))
    saved = sum(was.get(name, 0.0) - now.get(name, 0.0) for name in names)
    return saved > 0 and names <= was.keys() | now.keys()


def _telling(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings without what another torch calls otherwise, unless that is what fails for its cost."""
    findings = tuple(findings)
    costs = [finding.op for finding in findings if finding.fails and finding.kind not in EXACT]
    moved = {name for op in costs for name in (op, *op.partition(" ")[0].split("/"))}
    return tuple(one for one in findings if not _renames(one) or not moved.isdisjoint((one.op, one.family)))


def _renames(finding: Finding) -> bool:
    return finding.kind in (Kind.BACKEND, Kind.KERNELS) and not finding.fails
