"""`Baseline`s in their YAML files: read field by field, written whole or not at all; see `rendering` for the text."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_opcost import stored_ops, yaml_text
from pytest_opcost.baselines import Baseline, Session
from pytest_opcost.costs import ColdStep, CostProfile, Environment, OpCost, RecordedRatio
from pytest_opcost.errors import BaselineError
from pytest_opcost.facts import OpFacts
from pytest_opcost.fields import Fields
from pytest_opcost.paths import from_here, unwritable
from pytest_opcost.rendering import SCHEMA
from pytest_opcost.whole_files import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What the baselines of one machine have in common.
_ALIKE = re.compile(r"(?:^(?:environment|settings|details): \{.*\}\n){3}", re.MULTILINE)


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


def refuse_no_folder(folder: Path) -> None:
    """Raises BaselineError where something else than a folder stands in the place of all baselines."""
    if folder.exists() and not folder.is_dir():
        raise BaselineError(
            f"{folder}: the baselines cannot be there: this is a file.\n"
            "Expected: their folder, there already or new.\n"
            "Name it with --opcost-baselines=DIR. Nothing was measured."
        )


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
