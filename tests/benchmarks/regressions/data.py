"""Regressions of how data moves: copies, element types, layouts, reads from the host."""

from __future__ import annotations

from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pytest_opcost.workloads.models import LeNet, build
from pytest_opcost.workloads.steps import inference_step, training_step
from regressions.case import CUDA, Case, Step, classes, inference, random, seeded, training
from regressions.networks import Attention, Cells, Encoder, Mlp, Residual

BATCH = 16


def lenet_infer(device: torch.device, model: type[LeNet] = LeNet, batch: int = BATCH) -> Step:
    return inference_step(build(model, device), random(device, batch, 1, 28, 28))


def lenet_train(device: torch.device, model: type[LeNet] = LeNet) -> Step:
    return training_step(build(model, device), random(device, BATCH, 1, 28, 28), classes(device, BATCH))


def encoder_infer(device: torch.device, attention: type[nn.Module] = Attention) -> Step:
    return inference(seeded(partial(Encoder, attention), device), random(device, 8, 64, 64))


def mlp_train(device: torch.device, watch=lambda _model, _loss: None) -> Step:
    model, labels = seeded(Mlp, device), classes(device, 64)
    loss = partial(F.cross_entropy, target=labels)
    return training(model, random(device, 64, 256), loss, watch=partial(watch, model))


# Copies


class ContiguousHeads(Attention):
    def heads(self, x: Tensor) -> list[Tensor]:
        return [part.contiguous() for part in super().heads(x)]


class CloningLeNet(LeNet):
    def forward(self, images: Tensor) -> Tensor:
        return super().forward(images.clone())


class GrowingCells(Cells):
    def gather(self, states: list[Tensor]) -> Tensor:
        out = states[0][:, None]
        for state in states[1:]:
            out = torch.cat([out, state[:, None]], dim=1)
        return out


def cells_infer(device: torch.device, model: type[nn.Module]) -> Step:
    return inference(seeded(model, device), random(device, 16, 24, 32))


class ByWayOfTheHost(Mlp):
    def forward(self, x: Tensor) -> Tensor:
        out = super().forward(x)
        return torch.from_numpy(np.clip(out.cpu().numpy(), -1, 1)).to(out.device)


class Clipped(Mlp):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).clamp(-1, 1)


def mlp_infer(device: torch.device, model: type[nn.Module] = Mlp) -> Step:
    return inference(seeded(model, device), random(device, 64, 256))


def batch_from_the_host(device: torch.device) -> Step:
    model, images = build(LeNet, device).eval(), random(torch.device("cpu"), BATCH, 1, 28, 28)

    def step() -> None:
        with torch.no_grad():
            model(images.to(device))

    return step


# Reads from the host


def read_loss(_model: nn.Module, loss: Tensor) -> None:
    loss.item()


def log_gradients(model: nn.Module, _loss: Tensor) -> None:
    for parameter in model.parameters():
        f"{parameter.grad.norm().item():.3f}"


def wait_for_the_device(_model: nn.Module, _loss: Tensor) -> None:
    torch.cuda.synchronize()


# What is made anew at every step


class MaskedOnce(Attention):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.triu(torch.full((64, 64), float("-inf")), diagonal=1))

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask)


class MaskedEachTime(Attention):
    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        length = q.size(2)
        mask = torch.triu(torch.full((length, length), float("-inf"), device=q.device), diagonal=1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


# Element types


def lenet_of_type(device: torch.device, dtype: torch.dtype) -> Step:
    """As users write it: the model is given the type of the images, whatever NumPy made of them."""
    images = random(device, BATCH, 1, 28, 28).to(dtype)
    return inference_step(build(LeNet, device).to(images.dtype), images)


def regression(device: torch.device, dtype: torch.dtype) -> Step:
    targets = random(device, 64, 10).to(dtype)
    return training(seeded(Mlp, device), random(device, 64, 256), lambda out: ((out - targets) ** 2).mean())


def encoder_autocast(device: torch.device, enabled: bool) -> Step:
    model, x = seeded(Encoder, device).train(), random(device, 8, 64, 64)

    def step() -> None:
        with torch.autocast(device.type, torch.bfloat16, enabled=enabled):
            loss = model(x).float().square().mean()
        loss.backward()

    return step


# Layouts


def residual_infer(device: torch.device, layout: torch.memory_format = torch.contiguous_format) -> Step:
    images = random(device, 4, 3, 32, 32).contiguous(memory_format=layout)
    return inference(seeded(Residual, device).to(memory_format=layout), images)


def mobilenet(device: torch.device, layout: torch.memory_format) -> Step:
    from torchvision.models import mobilenet_v3_small

    images = random(device, 4, 3, 64, 64).contiguous(memory_format=layout)
    return inference(seeded(mobilenet_v3_small, device).to(memory_format=layout), images)


COPY_OPS = ("::clone", "::contiguous", "::copy_", "::_to_copy", "::to")

DATA = (
    Case(
        "contiguous", "heads are made contiguous before an attention that does not ask for it",
        encoder_infer, partial(encoder_infer, attention=ContiguousHeads), ("copy_added",), COPY_OPS,
    ),
    Case(
        "clone", "the images are cloned before they are used",
        lenet_infer, partial(lenet_infer, model=CloningLeNet), ("copy_added",), COPY_OPS,
    ),
    Case(
        "cat_in_loop", "states are gathered by torch.cat in the loop instead of one stack after it",
        partial(cells_infer, model=Cells), partial(cells_infer, model=GrowingCells),
        ("called_more_often",), ("::cat",),
    ),
    Case(
        "host_round_trip", "logits are clipped by NumPy, which is a copy to the host and back",
        partial(mlp_infer, model=Clipped), partial(mlp_infer, model=ByWayOfTheHost),
        ("host_round_trip",), (*COPY_OPS, "::copy_"), CUDA,
    ),
    Case(
        "batch_from_the_host", "the batch is kept on the host and copied at every step",
        lenet_infer, batch_from_the_host, ("transfer_added",), COPY_OPS, CUDA,
    ),
    Case(
        "item", "the loss is read with .item() at every step",
        mlp_train, partial(mlp_train, watch=read_loss), ("read_on_host", "sync_added"),
        ("::item", "::_local_scalar_dense"),
    ),
    Case(
        "log", "the norm of every gradient is logged at every step",
        mlp_train, partial(mlp_train, watch=log_gradients), ("read_on_host", "sync_added"),
        ("::item", "::_local_scalar_dense", "::linalg_vector_norm", "::norm"),
    ),
    Case(
        "synchronize", "torch.cuda.synchronize() was left in the step after debugging",
        mlp_train, partial(mlp_train, watch=wait_for_the_device), ("sync_added",), ("Synchronize",), CUDA,
    ),
    Case(
        "mask_rebuilt", "the attention's mask is built at every step instead of once",
        partial(encoder_infer, attention=MaskedOnce), partial(encoder_infer, attention=MaskedEachTime),
        ("built_each_step",), ("::triu", "::full", "::fill_"),
    ),
    Case(
        "float64", "images come from NumPy as float64, and the model follows them",
        partial(lenet_of_type, dtype=torch.float32), partial(lenet_of_type, dtype=torch.float64), ("float64",),
        ("conv2d", "::convolution", "::_convolution", "_convolution", "_forward", "::addmm"),
    ),
    Case(
        "loss_in_float64", "the targets are float64, so the loss and its gradient are too",
        partial(regression, dtype=torch.float32), partial(regression, dtype=torch.float64), ("float64",),
        ("::sub", "::pow", "::mean", "::to", "::_to_copy", "::copy_", "::mul", "::sum"),
    ),
    Case(
        "autocast_lost", "the step no longer runs under autocast",
        partial(encoder_autocast, enabled=True), partial(encoder_autocast, enabled=False), ("autocast_lost",),
        ("::addmm", "::mm", "::linear", "_attention", "_attention_for_cpu", "::to", "::_to_copy", "mkldnn_linear"),
    ),
    Case(
        "channels_last_lost", "a small residual network no longer runs in channels_last",
        partial(residual_infer, layout=torch.channels_last), residual_infer,
        ("channels_last_lost", "reorders_added"),
        ("_convolution", "::convolution", "::conv2d"),
    ),
    Case(
        "channels_last_lost_in_mobilenet", "torchvision's mobilenet_v3_small no longer runs in channels_last",
        partial(mobilenet, layout=torch.channels_last), partial(mobilenet, layout=torch.contiguous_format),
        ("channels_last_lost", "reorders_added"), ("_convolution", "::convolution", "::conv2d"),
    ),
)  # fmt: skip
