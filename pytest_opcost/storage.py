"""`Baseline` <-> one YAML file, read field by field, written whole or not at all."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost import stored_ops, yaml_text
from pytest_opcost.baselines import Baseline, Session, update_command
from pytest_opcost.costs import ColdStep, CostProfile, Environment, OpCost, RecordedRatio
from pytest_opcost.errors import BaselineError
from pytest_opcost.facts import MOST_PLACES, OpFacts, brief
from pytest_opcost.fields import Fields
from pytest_opcost.paths import from_here, unwritable
from pytest_opcost.whole_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_opcost.facts import Counts

SCHEMA = 2

#: Operators below this share keep their calls and cost, but not the samples of single rounds, and a digest of their
#: input shapes.
WHOLE_SHARE = 0.005
#: So does an operator with more, or longer, input shapes than this, since a line is to be read.
MOST_VARIANTS, LONGEST_VARIANTS = 8, 400

#: What the baselines of one machine have in common.
_ALIKE = re.compile(r"(?:^(?:environment|settings|details): \{.*\}\n){3}", re.MULTILINE)


def render(baseline: Baseline, top: int, options: Sequence[str] = ()) -> str:
    """The file's text: the `top` operators with all that is known of them, one line each, and the rest in brief.

    `options` are those without which pytest would not find the test.
    """
    profile, environment = baseline.profile, baseline.profile.environment
    head: dict[str, object] = {"schema": SCHEMA, "test": baseline.test}
    if baseline.check is not None:
        head["check"] = baseline.check
    head |= {"recorded": baseline.recorded, "machine": environment.machine_key}
    pace = {"pace_us": _short(profile.pace_us)} if profile.pace_us else {}
    nodes = {} if profile.autograd_nodes is None else {"autograd_nodes": profile.autograd_nodes}
    blocks: dict[str, object] = {
        "environment": {
            "device": environment.device,
            "device_name": environment.device_name,
            "capability": environment.capability,
            "torch": environment.torch,
            "threads": environment.threads,
            "allocator": environment.allocator,
        },
        "settings": dict(environment.settings),
        "details": dict(environment.details),
        "step": {
            "steps": profile.steps,
            "wall_us": _short(profile.wall_us),
            "total_host_us": _short(profile.total_host_us),
            "total_device_us": _short(profile.total_device_us),
            "load": round(profile.load, 2),
            **pace,
            **nodes,
        },
    }
    if profile.cold is not None:
        cold = profile.cold
        blocks["cold"] = {
            "wall_us": _short(cold.wall_us),
            "host_us": _short(cold.host_us),
            "device_us": _short(cold.device_us),
            "ops": {name: [_short(host), _short(device)] for name, host, device in cold.ops},
        }
    lines = [
        "# Operator costs of one step, recorded by pytest-opcost; times are microseconds of self time a step.",
        f"# Accept new figures with: {update_command(baseline.test, options)}",
        *(yaml_text.block({key: value}) for key, value in head.items()),
    ]
    for name, block in blocks.items():
        lines += [f"{name}: {yaml_text.flow(block)}"]
    lines += ["sessions:"]
    lines += [
        f"  - {yaml_text.flow({'recorded': one.recorded, 'rounds': one.rounds, 'load': round(one.load, 2)})}"
        for one in baseline.sessions
    ]
    lines += ["ratios:"] if baseline.ratios else ["ratios: {}"]
    lines += [
        f"  {yaml_text.flow(name)}: {yaml_text.flow({'value': _short(ratio.value), 'spread': round(ratio.spread, 4)})}"
        for name, ratio in baseline.ratios.items()
    ]
    lines += ["ops:"]
    facts: dict[str, object] = {}
    for rank, op in enumerate(profile.ops):
        if rank == top:
            lines += [f"  # below the top {top}"]
        whole = rank < top or op.share >= WHOLE_SHARE
        lines += [f"  - {yaml_text.flow(_row(op, sampled=whole))}"]
        if op.facts is not None and (told := _facts(op.facts, whole=whole)):
            facts[op.name] = told
    lines += ["facts:"] if facts else []
    lines += [f"  {yaml_text.flow(name)}: {yaml_text.flow(told)}" for name, told in facts.items()]
    return "\n".join(lines) + "\n"


def _row(op: OpCost, *, sampled: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "op": op.name,
        "family": op.family,
        "calls": op.calls,
        "self_host_us": _short(op.self_host_us),
        "self_device_us": _short(op.self_device_us),
        "share": round(op.share, 4),
    }
    if op.forward < 1:
        row["forward"] = round(op.forward, 4)
    if op.varying:
        row["varying"] = True
    if sampled and op.samples:
        row["samples"] = [_short(sample) for sample in op.samples]
    return row


def _facts(facts: OpFacts, *, whole: bool) -> dict[str, object]:
    """The facts of one operator; those that are empty or zero are left out, and so are source lines, which move."""
    # An operator's inputs follow from the model; those of a cheap one need not be read, only compared.
    told: dict[str, object] = {"flops": facts.flops, "alloc_bytes": facts.alloc_bytes, "syncs": facts.syncs}
    told["kernels"] = _counts(facts.kernels, whole=True)
    told["inputs"] = _counts(facts.inputs, whole=whole)
    told["varying"] = list(facts.varying)
    if any(told.values()):
        told["at"] = list(dict.fromkeys(f"{one.phase} {one.module}".strip() for one in facts.places))[:MOST_PLACES]
    return {name: value for name, value in told.items() if value}


def _short(value: float) -> float | int:
    """Four significant digits; whole numbers from 1,000 on."""
    short = float(f"{value:.4g}")
    return int(short) if short >= 1000 else short


def load(path: Path) -> Baseline:
    """The baseline in a file.

    Raises BaselineError, naming file, field and mend, for whatever is wrong with it; nothing is changed on disk.
    """
    return load_text(yaml_text.text_of(path), path)


def load_text(text: str, path: Path) -> Baseline:
    """The baseline in the text that a file at `path` has, or once had; raises BaselineError as `load` does."""
    if (read := stored_ops.read(text)) is not None:
        head, ops = read
        with suppress(BaselineError):  # what is wrong with it is told of the whole text, as YAML reads it
            document = yaml_text.parse(head, path, _ALIKE)
            # They may stand there twice, in a way of somebody's own.
            if isinstance(document, dict) and document.keys().isdisjoint(("ops", "facts")):
                return _baseline(document, ops, path)
    return _baseline(yaml_text.parse(text, path), None, path)


def _baseline(value: object, ops: tuple[OpCost, ...] | None, path: Path) -> Baseline:
    """The baseline in a document; `ops` are its operators where they were read already."""
    document = Fields(value, str(from_here(path)), yaml_text.mend(path))
    schema = document.take("schema")
    if schema != SCHEMA:
        raise document.error("schema", f"{schema!r}", f"{SCHEMA}, the schema of this version of pytest-opcost")
    environment, settings, details = (document.mapping(name) for name in ("environment", "settings", "details"))
    step = document.mapping("step")
    profile = CostProfile(
        environment=Environment(
            device=environment.text("device"),
            device_name=environment.text("device_name"),
            capability=environment.text("capability"),
            torch=environment.text("torch"),
            threads=environment.count("threads"),
            allocator=environment.text("allocator"),
            settings=settings.texts(),
            details=details.texts(),
        ),
        steps=step.count("steps"),
        wall_us=step.number("wall_us"),
        total_host_us=step.number("total_host_us"),
        total_device_us=step.number("total_device_us"),
        load=step.number("load"),
        pace_us=step.number("pace_us") if "pace_us" in step else 0.0,
        autograd_nodes=step.count("autograd_nodes") if "autograd_nodes" in step else None,
        cold=_cold(document.mapping("cold")) if "cold" in document else None,
        ops=_ops(document) if ops is None else ops,
    )
    ratios = document.mapping("ratios")
    sessions = tuple(
        Session(one.text("recorded"), one.count("rounds", positive=True), one.number("load"))
        for one in document.rows("sessions")
    )
    rounds, seen = sum(one.rounds for one in sessions), max(len(op.samples) for op in profile.ops)
    if seen not in (0, rounds):  # an operator need not be in all of them; none is in more
        raise document.error(
            "sessions", f"{rounds} rounds in all, and operators with {seen} samples", "as many of both"
        )
    return Baseline(
        test=document.text("test"),
        check=document.text("check") if "check" in document else None,
        recorded=document.text("recorded"),
        profile=profile,
        ratios={
            name: RecordedRatio(ratio.number("value", positive=True), ratio.number("spread"))
            for name in ratios.names()
            for ratio in [ratios.mapping(name)]
        },
        path=path,
        sessions=sessions,
    )


def _counts(counts: Counts, *, whole: bool) -> dict[str, int]:
    long = len(counts) > MOST_VARIANTS or sum(len(name) for name, _ in counts) > LONGEST_VARIANTS
    return dict(brief(counts) if counts and (long or not whole) else counts)


def _ops(document: Fields) -> tuple[OpCost, ...]:
    block = document.mapping("facts") if "facts" in document else None
    facts = {} if block is None else {name: _op_facts(block.mapping(name)) for name in block.names()}
    return tuple(_op(row, facts.get(row.text("op"))) for row in document.rows("ops", named_by="op"))


def _op_facts(row: Fields) -> OpFacts:
    """Those that stand there; the others are empty or zero."""
    found: dict[str, Any] = {name: row.count(name) for name in ("flops", "syncs", "alloc_bytes") if name in row}
    found |= {name: row.mapping(name).counts() for name in ("inputs", "kernels") if name in row}
    if "varying" in row:
        found["varying"] = row.list_of_texts("varying")
    if "at" in row:
        found["places"] = tuple(map(stored_ops.place_of, row.list_of_texts("at")))
    return OpFacts(**found)


def _op(row: Fields, facts: OpFacts | None) -> OpCost:
    return OpCost(
        name=row.text("op"),
        family=row.text("family"),
        calls=row.count("calls"),
        self_host_us=row.number("self_host_us"),
        self_device_us=row.number("self_device_us"),
        share=row.number("share"),
        forward=row.number("forward") if "forward" in row else 1.0,
        varying=row.flag("varying") if "varying" in row else False,
        samples=row.numbers("samples") if "samples" in row else (),
        facts=facts,
    )


def _cold(block: Fields) -> ColdStep:
    costs = block.mapping("ops")
    ops = tuple((name, host_us, device_us) for name in costs.names() for host_us, device_us in [costs.pair(name)])
    return ColdStep(block.number("wall_us"), block.number("host_us"), block.number("device_us"), ops)


def refuse_unwritable_folder(folder: Path) -> None:
    """Raises BaselineError where no baseline can be written to a folder, there already or new."""
    if why := unwritable(folder, is_folder=True):
        raise BaselineError(
            f"{folder}: no baseline can be written there: {why}.\n"
            "Expected: a folder, there already or new, where this user may write.\n"
            "Choose another with --opcost-baselines=DIR, or make room for this one. Nothing was recorded."
        )


def write(path: Path, text: str) -> None:
    """Replace the file in one step: whoever reads it sees the old text or the new one, never half of it.

    Raises BaselineError where the folder cannot be written; the old file is then still there.
    """
    try:
        replace_file(path, text.encode())
    except OSError as error:
        raise BaselineError(
            f"{path}: the baseline could not be written: {error.strerror or error}.\n"
            "Expected: a folder that can be written; what was there before is untouched.\n"
            "Choose another folder with --opcost-baselines=DIR."
        ) from None


def elsewhere(root: Path, path: Path, environment: Environment) -> Baseline | None:
    """The same check's baseline from another machine whose exact facts must be equal to ours: same device type, torch
    minor and threads; one of the same ISA or compute capability is preferred. None if there is none.
    """
    candidates = [load(other) for other in sorted(root.glob(f"*/{path.name}")) if other != path]
    same = [c for c in candidates if comparable(c.profile.environment, environment)]
    return min(same, key=lambda c: c.profile.environment.capability != environment.capability, default=None)


def comparable(one: Environment, other: Environment) -> bool:
    """Whether two machines, which need not be the same, do the same work: their exact facts must be equal."""
    return (one.device, one.torch_minor, one.threads) == (other.device, other.torch_minor, other.threads)


def stored_tests(root: Path) -> Iterator[tuple[Path, str]]:
    """Every baseline file below `root` with the id of its test; files that are no baselines are passed over."""
    for path in sorted(root.glob("*/*.yaml")):
        test = yaml_text.line_of(path, "test")
        if isinstance(test, str):
            yield path, test
