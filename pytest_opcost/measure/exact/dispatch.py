"""The step seen from within torch's dispatcher: where each operator is called, its FLOPs, and the CPU's primitives."""

from __future__ import annotations

import threading
import warnings
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils._python_dispatch import TorchDispatchMode

from pytest_opcost.facts import Place
from pytest_opcost.measure.compat import current_backward_node, next_sequence_number
from pytest_opcost.measure.exact.attribute import CALL_MARK, Call
from pytest_opcost.measure.exact.source_lines import user_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_opcost.measure.exact.flow import FlowRecorder
    from pytest_opcost.measure.exact.primitives import PrimitiveLog


class DispatchWatch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Notes every operator call that is dispatched while it is entered, and annotates it for the profiler.

    FLOPs are those of `torch.utils.flop_counter`. A backward operator has the place of its forward: autograd numbers
    its nodes, and a node's number is known while its forward is dispatched.
    """

    def __init__(self, log: PrimitiveLog | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.calls: list[Call] = []
        self._log = log
        self._flow: FlowRecorder | None = None
        self._thread = threading.get_ident()
        self._modules: list[str] = []
        self._paths: dict[int, str] = {}
        self._in_optimizer = False
        self._backward_seen = False
        self._forwards: dict[int, Place] = {}
        self._next_node = 0

    @contextmanager
    def watching(self, flow: FlowRecorder | None = None) -> Iterator[None]:
        """Watch one step, and have its data flow noted by `flow`."""
        from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

        self._flow = flow
        self._modules.clear()
        self._in_optimizer = self._backward_seen = False
        self._next_node = next_sequence_number()
        with ExitStack() as hooks, warnings.catch_warnings():
            # A compiled module says that hooks like ours fire once more for it.
            warnings.filterwarnings("ignore", message="Using `torch.compile.module.` when there are global hooks")
            for hook in (
                register_module_forward_pre_hook(self._enter_module),
                register_module_forward_hook(self._leave_module, always_call=True),
                register_optimizer_step_pre_hook(lambda *_: self._optimizing(True)),
                register_optimizer_step_post_hook(lambda *_: self._optimizing(False)),
            ):
                hooks.callback(hook.remove)
            hooks.enter_context(self)
            yield

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        from torch.autograd.profiler import record_function
        from torch.utils.flop_counter import flop_registry

        kwargs = kwargs or {}
        if func.namespace == "profiler":
            return func(*args, **kwargs)
        formula = flop_registry.get(func._overloadpacket)
        if formula is None:
            # In inference mode composite operators such as `linear` arrive whole; their parts have the formulas.
            with self:
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        place, number = self._place(), len(self.calls)
        taken = self._flow.takes(func, args, kwargs, place) if self._flow is not None else None
        if self._log is not None:
            self._log.calls()
        with record_function(f"{CALL_MARK}{number}"):
            out = func(*args, **kwargs)
        flops = int(formula(*args, **kwargs, out_val=out)) if formula is not None else 0
        primitives = self._log.calls() if self._log is not None else ()
        name = func._overloadpacket._qualified_op_name
        self.calls.append(Call(name, place, flops, primitives))
        if self._flow is not None and taken is not None:
            self._flow.makes(number, name, place, taken, out)
        return out

    def _place(self) -> Place:
        if (node := current_backward_node()) is not None:
            self._backward_seen = True
            forward = self._forwards.get(node[1])
            self._own_nodes(forward or Place("backward"))
            return Place("backward", forward.module, forward.line) if forward else Place("backward")
        module = self._modules[-1] if self._modules else ""
        if self._in_optimizer:
            return Place("optimizer", module, user_line())
        place = Place("other" if self._backward_seen and not module else "forward", module, user_line())
        self._own_nodes(place)
        return place

    def _own_nodes(self, place: Place) -> None:
        """Note the place of all autograd nodes made since the last call.

        The node of an operator that can be differentiated is made before the operator is dispatched to us; one that
        works in place makes a second one in between, for the copy that it keeps.
        """
        if threading.get_ident() != self._thread:
            return  # each thread numbers its own nodes
        following = next_sequence_number()
        self._forwards.update(dict.fromkeys(range(self._next_node, following), place))
        self._next_node = following

    def _enter_module(self, module: Any, _args: Any) -> None:
        if threading.get_ident() != self._thread:
            return
        if not self._modules:
            # Anew for each model that is called: the step may have dropped one, whose ids are free again.
            self._paths = {
                id(child): name.removeprefix("_orig_mod.") or type(module).__name__
                for name, child in module.named_modules()
            }
            if self._flow is not None:
                self._flow.owns(module)
        self._modules.append(self._paths.get(id(module), type(module).__name__))

    def _leave_module(self, _module: Any, _args: Any, _output: Any) -> None:
        if threading.get_ident() == self._thread and self._modules:
            self._modules.pop()

    def _optimizing(self, now: bool) -> None:
        self._in_optimizer = now
