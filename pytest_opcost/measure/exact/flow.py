"""How data flows through a step that is watched from the dispatcher: which call makes what another one takes.

A tensor is told by its storage and its layout in it, so that views and operators in place keep the chain. Storages are
held weakly: the memory itself is freed as ever, only its small record (some 100 bytes) stays until the step has ended,
so that no address is met twice.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn import Parameter

from pytest_opcost.families import family_of
from pytest_opcost.flow import DataFlow, FlowNode
from pytest_opcost.measure.inputs import tensors_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_opcost.facts import Place

#: A step of more calls makes a picture that nobody could read, and a large record: it has no data flow.
MOST_CALLS = 2000

#: They hand on what they take, under another name at most: edges pass through them, and through views that show all of
#: what they are of in the same way, such as `x[:]`.
_HAND_ON = frozenset({"aten::detach", "aten::alias", "aten::lift", "aten::lift_fresh"})

#: Where in its storage a tensor lies, as what: offset, shape, strides, element type; and whether it is a parameter
#: itself, which a view of the same layout, such as its transpose transposed, is not.
_Layout: TypeAlias = tuple[int, "torch.Size", tuple[int, ...], "torch.dtype", bool]
_WHOLE: _Layout = (0, torch.Size(), (), torch.uint8, False)


@dataclass(slots=True)
class _Memory:
    """One storage: the node that each tensor in it is from, by layout, and which bytes were written by which, in order.

    `names` are those of parameters and buffers in it.
    """

    held: object
    made: dict[_Layout, tuple[range, int]] = field(default_factory=dict)
    written: list[tuple[range, int]] = field(default_factory=list)
    names: dict[_Layout, str] = field(default_factory=dict)

    def source(self, layout: _Layout, span: range) -> int | None:
        """The node that a tensor in it is from; None where the step has not made it."""
        for known in (layout, (*layout[:4], True)):
            if known in self.made:
                return self.made[known][1]
        return next((node for other, node in reversed(self.written) if _overlap(span, other)), None)

    def write(self, layout: _Layout, span: range, node: int) -> None:
        """What was known of these bytes is no longer so, whichever tensor shows them."""
        self.made = {key: seen for key, seen in self.made.items() if not _overlap(span, seen[0])}
        self.written = [one for one in self.written if not (span.start <= one[0].start and one[0].stop <= span.stop)]
        self.made[layout] = (span, node)
        self.written.append((span, node))


@dataclass(frozen=True, slots=True)
class Taken:
    """What a call takes: the nodes that made it, the memories that it lies in, where, and the tensors it writes to."""

    sources: dict[int, None]
    memories: set[int]
    layouts: list[_Layout]
    written: list[Tensor]
    into: list[tuple[_Memory, _Layout, range]]


class FlowRecorder:
    """Notes the data flow of one step; `node_of` tells each call's node by the number that the watch gave the call."""

    def __init__(self) -> None:
        self.node_of: dict[int, int] = {}
        self._nodes: list[FlowNode] = []
        self._edges: dict[tuple[int, int], None] = {}
        self._memories: dict[int, _Memory] = {}
        self._too_many = False
        # Several devices have a thread each for their part of the backward.
        self._lock = threading.Lock()

    def flow(self) -> DataFlow | None:
        """What was noted; None where there was nothing, or too much of it."""
        return None if self._too_many or not self.node_of else DataFlow(tuple(self._nodes), tuple(self._edges))

    def owns(self, module: Any) -> None:
        """Note the names of a model's parameters and buffers."""
        for named in (module.named_parameters(), module.named_buffers()):
            for name, tensor in named:
                memory, layout, _ = self._seen(tensor)
                memory.names.setdefault(layout, name.removeprefix("_orig_mod."))

    def takes(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: Place) -> Taken:
        """To be told before the call, which may change what it takes."""
        taken, written = Taken({}, set(), [], [], []), _written(func)
        with self._lock:
            for position, value in (*enumerate(args), *kwargs.items()):
                for tensor in () if self._too_many else _tensors((value,)):
                    memory, layout, span = self._seen(tensor)
                    node = memory.source(layout, span)
                    if node is None:
                        node = self._enters(tensor, memory, layout, place)
                        memory.made[layout] = (span, node)
                    taken.sources[node] = None
                    taken.memories.add(id(memory))
                    taken.layouts.append(layout)
                    if position in written:
                        taken.written.append(tensor)
                        taken.into.append((memory, layout, span))
        return taken

    def makes(self, number: int, name: str, place: Place, taken: Taken, out: Any) -> None:
        """To be told after the call: what became of it."""
        with self._lock:
            if self._too_many or len(self.node_of) >= MOST_CALLS:
                self._too_many = True
                self._memories.clear()
                return
            made, family = [*_tensors((out,))], family_of(name)
            if taken.sources and (name in _HAND_ON or (family == "view" and self._changes_nothing(taken, made))):
                node = next(iter(taken.sources))
            else:
                node = len(self._nodes)
                self._nodes.append(FlowNode(name, family, place, tensors_in_words(made or taken.written)))
                # What only allocates takes a shape, no data.
                sources = () if family == "allocate" and not taken.into else taken.sources
                self._edges |= {(source, node): None for source in sources}
                for memory, layout, span in taken.into:
                    memory.write(layout, span, node)
            # What hands on is at its giver's cost, unless that is no call.
            self.node_of[number] = node if self._nodes[node].is_call else -1
            for tensor in made:
                memory, layout, span = self._seen(tensor)
                if id(memory) in taken.memories:
                    memory.made[layout] = (span, node)  # a view, or what was written in place
                else:
                    memory.write(layout, span, node)

    def _changes_nothing(self, taken: Taken, made: list[Tensor]) -> bool:
        """Whether a view shows all that it is of, in the same way."""
        return len(made) == 1 and self._seen(made[0])[1][:4] == taken.layouts[0][:4]

    def _enters(self, tensor: Tensor, memory: _Memory, layout: _Layout, place: Place) -> int:
        """A node for a tensor that was there before."""
        is_parameter = isinstance(tensor, Parameter) or bool(memory.names)
        # A view made outside of the step has the name of what it is of, where only one has this memory.
        names = [memory.names[layout]] if layout in memory.names else [*memory.names.values()]
        name = names[0] if len(names) == 1 else "parameter"
        if not is_parameter:
            name = "optimizer state" if place.phase == "optimizer" else "input"
        self._nodes.append(FlowNode(name, "parameter" if is_parameter else "input", place, tensors_in_words([tensor])))
        return len(self._nodes) - 1

    def _seen(self, tensor: Tensor) -> tuple[_Memory, _Layout, range]:
        try:
            storage, offset, stride = tensor.untyped_storage(), int(tensor.storage_offset()), tensor.stride()
        except (NotImplementedError, RuntimeError):
            # Sparse tensors and oneDNN's own have no storage: they are told by themselves, and kept meanwhile.
            return self._memories.setdefault(id(tensor), _Memory(tensor)), _WHOLE, range(1)
        memory = self._memories.get(storage._cdata)
        if memory is None:
            memory = self._memories[storage._cdata] = _Memory(_weakly(storage))
        layout = (offset, tensor.shape, stride, tensor.dtype, isinstance(tensor, Parameter))
        elements = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, stride)) if tensor.numel() else 0
        return memory, layout, range(offset * tensor.element_size(), (offset + elements) * tensor.element_size())


def _weakly(storage: Any) -> object:
    reference: object = StorageWeakRef(storage)  # type: ignore[no-untyped-call]
    return reference


def _overlap(one: range, other: range) -> bool:
    return one.start < other.stop and other.start < one.stop


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


@cache
def _written(func: Any) -> frozenset[int | str]:
    """The arguments that an operator writes to, by position and by name."""
    arguments = enumerate(func._schema.arguments)
    written = [(at, one.name) for at, one in arguments if one.alias_info is not None and one.alias_info.is_write]
    return frozenset(key for pair in written for key in pair)
