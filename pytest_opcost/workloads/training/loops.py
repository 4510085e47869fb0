"""The two ways to run training steps: operator by operator, or the whole step replayed as a CUDA graph.

Images and labels lie on the device as a whole. A step is told which rows make its batch and gathers them there; loss
and hits are added up there too, so that nothing waits for the device until somebody reads them. While steps run, cuDNN
takes only kernels that add in a fixed order, so that it is no reason for a seed to end elsewhere the next time.
"""

from __future__ import annotations

import warnings
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import torch

from pytest_opcost.workloads.models import build
from pytest_opcost.workloads.steps import recipe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch import Tensor

    from pytest_opcost.workloads.models import LeNet, LeNet5


class EagerLoop:
    """A network in training, its steps run as they are written.

    `images` (N, ...) are what the model takes, `labels` (N,) its classes, int64; all is on one device. `name` says how
    steps are run. With `capturable` the optimizer keeps on the device what it else keeps in Python. Without
    `deterministic` cuDNN may take what the caller's settings let it.
    """

    name = "eager"

    def __init__(
        self,
        model: LeNet | LeNet5,
        images: Tensor,
        labels: Tensor,
        *,
        capturable: bool = False,
        deterministic: bool = True,
    ) -> None:
        self.model = model
        self._deterministic = deterministic
        self._images, self._labels = images, labels
        self._optimizer, self._schedule = recipe(model, capturable=capturable)
        self._loss = torch.zeros((), device=images.device)
        self._hits = torch.zeros((), dtype=torch.int64, device=images.device)
        self._seen = 0

    def run(self, batches: Iterable[Tensor]) -> None:
        """Take a step for each batch, which is told by its row numbers, int64 and on the device."""
        self.model.train()
        with self._settings():
            for rows in batches:
                self._advance(rows)
                self._seen += len(rows)

    def read(self) -> tuple[float, float]:
        """The mean loss an image and the accuracy, 0 to 1, of the steps since the reading before; waits for them."""
        loss, accuracy = self._loss.item() / self._seen, self._hits.item() / self._seen
        self._loss.zero_()
        self._hits.zero_()
        self._seen = 0
        return loss, accuracy

    def next_epoch(self) -> None:
        """Lower the learning rate."""
        self._schedule.step()

    def batch(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The images and labels of these rows, as copies."""
        return self._images.index_select(0, rows), self._labels.index_select(0, rows)

    @contextmanager
    def _settings(self) -> Iterator[None]:
        """Torch's switches as steps want them, and back."""
        with _deterministic_cudnn() if self._deterministic else nullcontext():
            yield

    def _advance(self, rows: Tensor) -> None:
        self._step(rows)

    def _step(self, rows: Tensor) -> None:
        images, labels = self.batch(rows)
        self._optimizer.zero_grad()
        scores = self.model(images)
        loss = self.model.loss(scores, labels)
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        self._optimizer.step()
        self._loss.add_(loss.detach(), alpha=len(rows))
        self._hits.add_((scores.detach().argmax(1) == labels).sum())


class GraphLoop(EagerLoop):
    """The same on a CUDA device, with steps of `batch_size` images captured once and replayed: Python launches nothing.

    With `tf32_products` matrix products use TF32, as convolutions do by torch's default. With `overlapped` the largest
    parameter, and what has its gradient before it, is updated beside the rest of the backward pass; the arithmetic is
    the same. Smaller batches, the last of an epoch, are run as eager steps. The model's weights are as they were when
    this returns; random numbers are drawn. Raises RuntimeError, or what else torch raises, where a step cannot be
    captured.
    Methods: "Whole-network capture" in torch's notes on CUDA semantics; torch's tutorial on fusing an optimizer step
    into the backward pass.
    """

    name = "cuda graph"

    #: Steps before the capture, in which libraries choose their kernels and allocate their workspaces.
    _WARMUP = 3

    def __init__(
        self,
        model: LeNet | LeNet5,
        images: Tensor,
        labels: Tensor,
        batch_size: int,
        *,
        deterministic: bool = True,
        tf32_products: bool = True,
        overlapped: bool = True,
    ) -> None:
        super().__init__(model, images, labels, capturable=True, deterministic=deterministic)
        self._tf32_products, self._overlapped = tf32_products, overlapped
        self._largest = max((each for each in model.parameters() if each.requires_grad), key=torch.Tensor.numel)
        self._used: list[Tensor] = []
        self._rows = torch.arange(batch_size, device=images.device)
        self._graph = torch.cuda.CUDAGraph()
        weights = [parameter.detach().clone() for parameter in model.parameters()]
        model.train()
        with self._settings(), _recovered_if_it_fails():
            self._beside = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch leaves it untyped
            self._warm_up()
            with torch.cuda.graph(self._graph):
                self._step(self._rows)
        self._undo(weights)

    @contextmanager
    def _settings(self) -> Iterator[None]:
        tf32 = _tf32_products() if self._tf32_products else nullcontext()
        with super()._settings(), torch.cuda.device(self._rows.device), tf32:
            yield

    def _advance(self, rows: Tensor) -> None:
        if len(rows) == len(self._rows):
            self._rows.copy_(rows)
            self._graph.replay()
        else:
            self._step(rows)

    def _step(self, rows: Tensor) -> None:
        if not self._overlapped:
            super()._step(rows)
            return
        hook = self._largest.register_post_accumulate_grad_hook(self._update_early)  # type: ignore[no-untyped-call]
        try:
            super()._step(rows)
        finally:
            hook.remove()
        torch.cuda.current_stream().wait_stream(self._beside)
        self._used = []

    def _update_early(self, _: Tensor) -> None:
        """Update what has its gradient by now, while gradients of earlier layers are still computed."""
        self._beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._beside):
            self._optimizer.step()
        # Held until the streams have met: else the rest of the backward pass would get this memory.
        self._used = [parameter.grad for parameter in self.model.parameters() if parameter.grad is not None]
        self._optimizer.zero_grad()

    def _warm_up(self) -> None:
        aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside), warnings.catch_warnings():
            # Torch warns that a capturable optimizer is slower where nothing is captured.
            warnings.filterwarnings("ignore", message=".*capturable=True", category=UserWarning)
            for _ in range(self._WARMUP):
                self._step(self._rows)
        torch.cuda.current_stream().wait_stream(aside)
        self._optimizer.zero_grad()  # the graph has gradients of its own

    def _undo(self, weights: Iterable[Tensor]) -> None:
        """Undo all steps so far, in place, since the graph knows these tensors by their addresses."""
        with torch.no_grad():
            for parameter, weight in zip(self.model.parameters(), weights):
                parameter.copy_(weight)
        for state in self._optimizer.state.values():
            for value in state.values():
                value.zero_()  # as Adadelta begins
        self._loss.zero_()
        self._hits.zero_()


@contextmanager
def _deterministic_cudnn() -> Iterator[None]:
    """Have cuDNN take only kernels that add in a fixed order.

    Else it takes ALGO_0 for the gradient of some convolutions' weights, which by its documentation does not.
    """
    cudnn = torch.backends.cudnn
    before = cudnn.deterministic
    cudnn.deterministic = True
    try:
        yield
    finally:
        cudnn.deterministic = before


@contextmanager
def _tf32_products() -> Iterator[None]:
    """Let float32 products use TF32, unless the process says by torch's newer switches how precise they are to be."""
    matmul = torch.backends.cuda.matmul
    try:
        before = matmul.allow_tf32
    except RuntimeError:
        yield
        return
    matmul.allow_tf32 = True
    try:
        yield
    finally:
        matmul.allow_tf32 = before


@contextmanager
def _recovered_if_it_fails() -> Iterator[None]:
    """Undo what a failed capture leaves: torch on the capture's stream, its generator refusing all other draws."""
    generator = torch.cuda.default_generators[torch.cuda.current_device()]
    state = generator.clone_state()
    with torch.cuda.stream(torch.cuda.current_stream()):
        try:
            yield
        except BaseException:
            generator.graphsafe_set_state(state)
            raise


def best_loop(
    network: type[LeNet] | type[LeNet5],
    images: Tensor,
    labels: Tensor,
    batch_size: int,
    *,
    graph: bool,
    seed: int,
) -> tuple[EagerLoop, str]:
    """The fastest loop that works here for a new network, and in words how it runs steps.

    A graph is tried on CUDA devices if `graph`, unless there is no whole batch. Where it cannot be captured, the words
    say why.
    """
    name = EagerLoop.name
    if graph and images.is_cuda and len(images) >= batch_size:
        try:
            loop = GraphLoop(build(network, images.device, seed), images, labels, batch_size)
        except Exception as error:  # torch has many ways to say that it cannot, and the plain loop can
            why = next(iter(str(error).splitlines()), "") or type(error).__name__
            name = f"{EagerLoop.name} (no CUDA graph: {why})"
        else:
            return loop, loop.name
    return EagerLoop(build(network, images.device, seed), images, labels), name
