"""One training from seeded weights to its record: epochs, readings, tests, and profiles in between."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import torch

from pytest_opcost.measure import Plan, environments_of
from pytest_opcost.measure.threads import limited_threads
from pytest_opcost.training import Training
from pytest_opcost.workloads.mnist import MEAN, STD, lenet5_images
from pytest_opcost.workloads.models import LeNet, LeNet5
from pytest_opcost.workloads.source import Origin
from pytest_opcost.workloads.steps import LEARNING_RATE, LEARNING_RATE_DECAY
from pytest_opcost.workloads.training.evaluation import evaluate
from pytest_opcost.workloads.training.loops import best_loop
from pytest_opcost.workloads.training.random_state import random_state_kept
from pytest_opcost.workloads.training.window import step_cost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.workloads.mnist import Mnist, MnistSource

EPOCHS = 14
"""Of the Lab's training; the default of PyTorch's MNIST sample."""

TRAINING_SEED = 7
"""Not that of the models' weights. On an H200 it is the best of ten: `tests/benchmarks/training.py --seeds 10`."""

_READINGS = 20
"""How often an epoch's curves are read: each reading waits for the device, which is nothing twenty times an epoch."""


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """What to train and how: see `Training` for the fields of that name.

    `device` is as the user calls it, `graph` whether to replay steps as a CUDA graph where that works, `costs` whether
    to profile steps at the start, in the middle and at the end. Weights, dropout and the images' order come of `seed`.
    """

    test: str
    network: type[LeNet] | type[LeNet5]
    device: str
    batch_size: int
    epochs: int
    threads: int = 1
    quiet: bool = True
    graph: bool = True
    costs: bool = True
    seed: int = TRAINING_SEED


class Reading(NamedTuple):
    """What is known after `step` steps (from 1), in `epoch` (from 1): mean loss and accuracy since the one before."""

    step: int
    epoch: int
    loss: float
    accuracy: float


def default_epochs(source: MnistSource) -> int:
    """The Lab's epochs, or one on the shipped sample."""
    return 1 if source.origin is Origin.SAMPLE else EPOCHS


def steps_of(plan: TrainingPlan, mnist: Mnist) -> int:
    """How many steps the training takes."""
    return plan.epochs * math.ceil(len(mnist.train_images) / plan.batch_size)


def train(
    plan: TrainingPlan,
    mnist: Mnist,
    keep: Callable[[Training], None],
    on_reading: Callable[[int, int, float, float], None] = lambda step, epoch, loss, accuracy: None,
) -> Training:
    """Train a new network on a data set that lies on the plan's device; the record of it, which `keep` gets too.

    `on_reading` is called with the steps done, the epoch, loss and accuracy, each time the curves are read.

    The same plan gives the same curves in every run on the same machine; kernels other than cuDNN's may still add in an
    order that varies.
    Torch's global random numbers go on as if nothing had been trained. Where the training is interrupted or fails,
    `keep` gets the record so far, if there is any, before the error goes on.
    """
    with limited_threads(plan.threads), random_state_kept(mnist.train_images.device):
        course = _Course(plan, mnist)
        try:
            course.run(on_reading)
        except BaseException:  # Ctrl-C too: what was learned till then has cost time enough
            if course.readings:
                keep(course.record(interrupted=True))
            raise
        training = course.record()
    keep(training)
    return training


class _Course:
    """A training under way. The lists grow by whole entries, so that they fit together whenever it is interrupted."""

    def __init__(self, plan: TrainingPlan, mnist: Mnist) -> None:
        self._plan, self._mnist = plan, mnist
        (self._environment,) = environments_of([plan.device], plan.threads, quiet=plan.quiet)
        self._test_images = _taken_by(plan.network, mnist.test_images)
        images = _taken_by(plan.network, mnist.train_images)
        self._loop, self._loop_name = best_loop(
            plan.network, images, mnist.train_labels, plan.batch_size, graph=plan.graph, seed=plan.seed
        )
        self._steps = steps_of(plan, mnist)
        torch.manual_seed(plan.seed)  # for dropout, whatever building the loop has drawn
        self._shuffling = torch.Generator(images.device).manual_seed(plan.seed)
        self.readings: list[Reading] = []
        self.tests: list[tuple[float, float, float]] = []
        self.costs: list[tuple[str, CostProfile]] = []

    def run(self, on_reading: Callable[[int, int, float, float], None]) -> None:
        """Train to the end."""
        size, done = self._plan.batch_size, 0
        self._profile("start")
        for epoch in range(1, self._plan.epochs + 1):
            seconds = 0.0
            for rows in self._shuffled():
                start = time.perf_counter()
                self._loop.run(torch.split(rows, size))
                loss, accuracy = self._loop.read()
                seconds += time.perf_counter() - start
                half_before = done < self._steps / 2
                done += math.ceil(len(rows) / size)
                self.readings.append(Reading(done, epoch, loss, accuracy))
                on_reading(*self.readings[-1])
                if half_before and done >= self._steps / 2:
                    self._profile("middle")
            self.tests.append((*evaluate(self._loop.model, self._test_images, self._mnist.test_labels), seconds))
            self._loop.next_epoch()
        self._profile("end")

    def record(self, *, interrupted: bool = False) -> Training:
        """What is known by now."""
        plan, mnist = self._plan, self._mnist
        return Training(
            test=plan.test,
            model=plan.network.__name__,
            device=plan.device,
            batch_size=plan.batch_size,
            epochs=plan.epochs,
            images=len(mnist.train_images),
            test_images=len(mnist.test_images),
            environment=self._environment,
            data=mnist.source.describe(),
            loop=self._loop_name,
            hyperparameters=(
                ("optimizer", "Adadelta"),
                ("learning rate", f"{LEARNING_RATE:g}, times {LEARNING_RATE_DECAY:g} after each epoch"),
                ("batch size", str(plan.batch_size)),
                ("epochs", str(plan.epochs)),
                ("images", f"normalised by mean {MEAN:g} and standard deviation {STD:g}, shuffled in each epoch"),
                ("seed", str(plan.seed)),
            ),
            steps=tuple(reading.step for reading in self.readings),
            losses=tuple(reading.loss for reading in self.readings),
            accuracies=tuple(reading.accuracy for reading in self.readings),
            test_losses=tuple(loss for loss, _, _ in self.tests),
            test_accuracies=tuple(accuracy for _, accuracy, _ in self.tests),
            epoch_seconds=tuple(seconds for _, _, seconds in self.tests),
            costs=tuple(self.costs),
            interrupted=interrupted,
        )

    def _shuffled(self) -> Iterator[Tensor]:
        """The rows of all images in a new order, in as many pieces as there are readings; each is whole batches."""
        count, size = len(self._mnist.train_labels), self._plan.batch_size
        order = torch.randperm(count, generator=self._shuffling, device=self._shuffling.device)
        yield from torch.split(order, size * math.ceil(math.ceil(count / size) / _READINGS))

    def _profile(self, when: str) -> None:
        if not self._plan.costs:
            return
        # Always of the same images, since a pooling operator's time depends on them.
        rows = torch.arange(self._plan.batch_size, device=self._shuffling.device) % len(self._mnist.train_labels)
        plan = Plan(self._plan.device, threads=self._plan.threads, quiet=self._plan.quiet, exact=False)
        self.costs.append((when, step_cost(self._loop.model, *self._loop.batch(rows), plan)))


def _taken_by(network: type[LeNet] | type[LeNet5], images: Tensor) -> Tensor:
    return lenet5_images(images) if network is LeNet5 else images
