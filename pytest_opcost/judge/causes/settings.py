"""Causes that are settings of torch: oneDNN, TF32, deterministic mode, threads, autocast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_opcost.judge.causes.delta import FOLLOWING, Cause
from pytest_opcost.judge.verdict import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.judge.causes.change import Change

_COMPUTING = frozenset({"conv", "addmm", "rnn", "attention"})
_PREPARING = FOLLOWING | {"copy"}
#: Settings that say the same: their names, the cause's word, how it is called, and the families that it reaches.
_SWITCHES: tuple[tuple[tuple[str, ...], str, str, frozenset[str]], ...] = (
    (("deterministic",), "deterministic", "deterministic mode", _COMPUTING | _PREPARING | {"index", "upsample"}),
    (("mkldnn",), "onednn", "oneDNN", _COMPUTING | _PREPARING | {"elementwise", "pool", "norm", "softmax"}),
    (("cudnn",), "cudnn", "cuDNN", _COMPUTING | _PREPARING | {"norm", "elementwise", "pool", "softmax"}),
    (("cudnn_benchmark",), "cudnn_benchmark", "cuDNN's benchmark mode", _COMPUTING | _PREPARING),
    (("cudnn_deterministic",), "cudnn_deterministic", "cuDNN's deterministic mode", _COMPUTING | _PREPARING),
)  # fmt: skip
#: Those by which float32 is computed in fewer bits.
_PRECISIONS = ("cudnn_tf32", "matmul_tf32", "float32_matmul_precision")
_FULL = frozenset({"off", "ieee", "highest", "none"})


def switched(change: Change) -> Iterator[Cause]:
    """One cause for each thing that was switched, however many settings say so."""
    words = {finding.op: finding for finding in change.findings if finding.kind is Kind.SETTING}
    was, now = dict(change.old.environment.settings), dict(change.new.environment.settings)
    yield from _precision(change, was, now, [name for name in words if name in _PRECISIONS or name.endswith("_fp32")])
    for names, kind, called, families in _SWITCHES:
        if named := [name for name in names if name in words]:
            name = named[0]
            yield Cause(f"{kind}_{now[name]}", f"{called} {now[name]}{_now_runs(change, families)}", name,
                        explains=(*named, *_reached(change, families)))  # fmt: skip
            words = {one: finding for one, finding in words.items() if one not in named}
    if "threads" in words:
        message = f"{now['threads']} threads instead of {was['threads']}: the step sets them itself"
        yield Cause("threads_changed", message, "threads", explains=("threads",))
    if "autocast" in words and "off" in (was["autocast"], now["autocast"]):
        lost = now["autocast"] == "off"
        message = f"autocast lost: {was['autocast']} -> off" if lost else f"autocast on: {now['autocast']}"
        yield Cause("autocast_lost" if lost else "autocast_on", message, "autocast", explains=tuple(_all(change)))


def _precision(change: Change, was: dict[str, str], now: dict[str, str], names: list[str]) -> Iterator[Cause]:
    if not names:
        return
    lost = any(was[name] not in _FULL and now[name] in _FULL for name in names)
    called = "TF32" if change.new.environment.device == "cuda" else "float32 in fewer bits"
    told = ", ".join(f"{name} {was[name]} -> {now[name]}" for name in names)
    kind = "tf32" if called == "TF32" else "float32_precision"
    yield Cause(f"{kind}_{'off' if lost else 'on'}", f"{called} {'off' if lost else 'on'}: {told}", names[0],
                explains=(*names, *_reached(change, _COMPUTING)))  # fmt: skip


def _now_runs(change: Change, families: frozenset[str]) -> str:
    """Which operators took the place of others for it, those that compute."""
    deltas = change.deltas(lambda delta: delta.family in families & _COMPUTING and delta.extra)
    gone, came = ([d.name for d in deltas if d.extra * sign > 0] for sign in (-1, 1))
    return f": {gone[0]} became {came[0]}" if gone and came else ""


def _reached(change: Change, families: frozenset[str]) -> list[str]:
    return [delta.name for delta in change.deltas(lambda delta: delta.family in families)]


def _all(change: Change) -> list[str]:
    return ["autocast", *(delta.name for delta in change.deltas())]
