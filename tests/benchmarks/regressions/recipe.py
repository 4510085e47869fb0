"""Regressions of how a model is trained, and of the switches of torch around it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

from regressions.case import CPU, CUDA, Case, Step, classes, random, seeded, training
from regressions.data import lenet_infer, lenet_train, mlp_infer, mlp_train
from regressions.model import CONVOLUTIONS
from regressions.networks import Encoder, Mlp, Words


def adam(device: torch.device, foreach: bool, zero: dict[str, bool] | None = None) -> Step:
    model = seeded(Mlp, device)
    optimizer = torch.optim.Adam(model.parameters(), foreach=foreach)
    loss = partial(F.cross_entropy, target=classes(device, 64))
    return training(model, random(device, 64, 256), loss, optimizer=optimizer, zero=zero)


def words(device: torch.device, sparse: bool) -> Step:
    texts = torch.randint(20_000, (16, 12), generator=torch.Generator().manual_seed(1)).to(device)
    return training(seeded(partial(Words, sparse), device), texts, partial(F.cross_entropy, target=classes(device, 16)))


class Checkpointed(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        from torch.utils.checkpoint import checkpoint

        return checkpoint(self.inner, x, use_reentrant=False)


def encoder_train(device: torch.device, checkpointed: bool) -> Step:
    model = seeded(Encoder, device)
    model = Checkpointed(model) if checkpointed else model
    return training(model, random(device, 8, 64, 64), lambda out: out.square().mean())


def two_threads(device: torch.device) -> Step:
    """A library that the step calls sets the number of threads."""
    step = mlp_infer(device)

    def with_threads() -> None:
        torch.set_num_threads(2)
        step()

    return with_threads


@contextmanager
def deterministic() -> Iterator[None]:
    # Max-pooling's backward has no such algorithm on a GPU.
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


@contextmanager
def tf32(enabled: bool) -> Iterator[None]:
    matmul, cudnn = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = enabled
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = matmul, cudnn


@contextmanager
def no_onednn() -> Iterator[None]:
    # Not torch.backends.mkldnn.flags: it warns where there is no Intel GPU.
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(True)


RECIPE = (
    Case(
        "gradients_zeroed", "gradients are set to zero instead of dropped: zero_grad(set_to_none=False)",
        partial(adam, foreach=True), partial(adam, foreach=True, zero={"set_to_none": False}),
        ("gradients_zeroed",), ("::zero_", "_foreach_zero_", "::add_", "::fill_"),
    ),
    Case(
        "foreach_off", "the optimizer updates one parameter after the other",
        partial(adam, foreach=True), partial(adam, foreach=False), ("foreach_off",),
        ("_foreach_add_", "_foreach_addcmul_", "_foreach_addcdiv_", "_foreach_lerp_", "_foreach_mul_", "_foreach_sqrt",
         "_foreach_div_", "::addcmul_", "::addcdiv_", "::lerp_", "::mul_", "::sqrt", "::add_", "::div_", "::div"),
    ),
    Case(
        "dense_gradient", "the embedding's gradient is dense: 20,000 rows instead of the 192 that were used",
        partial(words, sparse=True), partial(words, sparse=False), ("dense_gradient",),
        ("::embedding_dense_backward", "::embedding_backward", "::embedding_sparse_backward"),
    ),
    Case(
        "recomputed", "activations are recomputed in the backward, though there is memory for them",
        partial(encoder_train, checkpointed=False), partial(encoder_train, checkpointed=True),
        ("recomputed_in_backward",), ("::addmm", "::linear", "_attention", "::gelu", "layer_norm"),
    ),
    Case(
        "anomaly_detection", "autograd's anomaly detection was left on after debugging",
        mlp_train, mlp_train, ("anomaly_detection",), ("::isnan", "::any", "::ne", "::is_nonzero", "::item"),
        settings_after=partial(torch.autograd.set_detect_anomaly, True),
    ),
    Case(
        "deterministic", "deterministic algorithms are on",
        lenet_train, lenet_train, ("deterministic_on",), ("deterministic",), settings_after=deterministic,
    ),
    Case(
        "onednn_off", "oneDNN is off",
        lenet_infer, lenet_infer, ("onednn_off",), ("mkldnn", *CONVOLUTIONS), CPU, settings_after=no_onednn,
    ),
    Case(
        "threads", "a library sets the number of threads in the step",
        mlp_infer, two_threads, ("threads_changed",), ("threads",), CPU,
    ),
    Case(
        "tf32_off", "TF32 is off",
        lenet_train, lenet_train, ("tf32_off",), ("tf32", "precision", "fp32", *CONVOLUTIONS, "::addmm", "::mm"), CUDA,
        settings_before=partial(tf32, True), settings_after=partial(tf32, False),
    ),
)  # fmt: skip
