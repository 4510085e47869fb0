"""Regressions of what the model computes: more work, the same work in a dearer way, a mode left on."""

from __future__ import annotations

from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from pytest_opcost.workloads.models import LeNet, build
from regressions.case import Case, Step, classes, inference, random, seeded, training
from regressions.data import encoder_infer, lenet_infer, mlp_infer, residual_infer
from regressions.networks import Attention, Depthwise, Encoder, Mlp, Recurrent, Residual

CONVOLUTIONS = ("_convolution", "::convolution", "::conv2d", "_forward")


# The same work in a dearer way


class LoopingLeNet(LeNet):
    def forward(self, images: Tensor) -> Tensor:
        return torch.cat([super(LoopingLeNet, self).forward(image[None]) for image in images])


class WrittenOut(Attention):
    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
        hidden = torch.ones(q.size(2), q.size(2), dtype=torch.bool, device=q.device).triu(1)
        return scores.masked_fill(hidden, float("-inf")).softmax(-1) @ v


class BiasApart(Mlp):
    def forward(self, x: Tensor) -> Tensor:
        for layer in (self.fc1, self.fc2):
            x = F.relu(F.linear(x, layer.weight) + layer.bias)
        return F.linear(x, self.fc3.weight) + self.fc3.bias


class CellByCell(Recurrent):
    def forward(self, x: Tensor) -> Tensor:
        lstm, states = self.lstm, []
        h = c = x.new_zeros(len(x), 64)
        for word in x.unbind(1):
            h, c = torch.lstm_cell(word, (h, c), lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0, lstm.bias_hh_l0)
            states.append(h)
        return torch.stack(states, dim=1)


class OutOfPlace(Residual):
    def __init__(self) -> None:
        super().__init__()
        self.relu = nn.ReLU()


def recurrent_infer(device: torch.device, model: type[nn.Module]) -> Step:
    return inference(seeded(model, device), random(device, 16, 24, 32))


# More work


class PaddedLeNet(LeNet):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=2)
        self.fc1 = nn.Linear(64 * 14 * 14, 128)


class TwiceThrough(Mlp):
    def forward(self, x: Tensor) -> Tensor:
        confidence = super().forward(x)  # for a monitor that nobody looks at
        return super().forward(x) + 0 * confidence


class SoftmaxBefore(Mlp):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).softmax(1)


def depthwise_infer(device: torch.device, groups: int) -> Step:
    return inference(seeded(partial(Depthwise, groups), device), random(device, 8, 32, 28, 28))


def mlp_classify(device: torch.device, model: type[nn.Module] = Mlp, hidden: int = 512) -> Step:
    loss = partial(F.cross_entropy, target=classes(device, 64))
    return training(seeded(partial(model, hidden), device), random(device, 64, 256), loss)


# A mode left on


def without_no_grad(device: torch.device) -> Step:
    model, images = build(LeNet, device).eval(), random(device, 16, 1, 28, 28)
    return lambda: model(images)


def encoder_dropping(device: torch.device, train: bool) -> Step:
    model, x = seeded(partial(Encoder, dropout=0.1), device), random(device, 8, 64, 64)
    step = inference(model, x)
    model.dropout.train(train)
    return step


def residual_in_mode(device: torch.device, train: bool) -> Step:
    model = seeded(Residual, device)
    step = inference(model, random(device, 4, 3, 32, 32))
    model.train(train)
    return step


MODEL = (
    Case(
        "loop_over_the_batch", "the model is called once for each image of the batch",
        lenet_infer, partial(lenet_infer, model=LoopingLeNet), ("called_more_often",),
        (*CONVOLUTIONS, "::addmm", "::relu", "::linear"),
    ),
    Case(
        "attention_split", "fused attention is written out as products and a softmax",
        encoder_infer, partial(encoder_infer, attention=WrittenOut), ("fused_split",),
        ("_attention", "_attention_forward", "_attention_for_cpu", "::bmm", "::softmax", "::_softmax", "::matmul"),
    ),
    Case(
        "bias_split", "the bias is added apart instead of by the product",
        mlp_infer, partial(mlp_infer, model=BiasApart), ("fused_split",),
        ("::addmm", "::add", "::mm", "::linear", "::matmul"),
    ),
    Case(
        "lstm_split", "an LSTM is run cell by cell",
        partial(recurrent_infer, model=Recurrent), partial(recurrent_infer, model=CellByCell),
        ("fused_split", "called_more_often"),
        ("::lstm", "::lstm_cell", "_rnn_layer", "::_cudnn_rnn", "::_thnn_fused_lstm_cell", "::addmm", "::linear",
         "::mkldnn_rnn_layer", "::mm"),
    ),
    Case(
        "in_place_lost", "the activations are no longer in place, as nn.ReLU(inplace=True) was",
        residual_infer, lambda device: inference(seeded(OutOfPlace, device), random(device, 4, 3, 32, 32)),
        ("in_place_lost",), ("::relu", "::relu_", "::clamp_min", "::clamp_min_"),
    ),
    Case(
        "odd_batch", "the last batch has one image, for which there is a slower path",
        partial(lenet_infer, batch=2), partial(lenet_infer, batch=1), ("batch_changed",),
        (*CONVOLUTIONS, "::addmm"),
    ),
    Case(
        "odd_width", "a layer of 512 became one of 513, whose rows are not aligned",
        mlp_infer, lambda device: inference(seeded(partial(Mlp, 513), device), random(device, 64, 256)),
        ("layer_resized",), ("::addmm", "::linear"),
    ),
    Case(
        "wider_layer", "the hidden layers are twice as wide",
        mlp_classify, partial(mlp_classify, hidden=1024), ("layer_resized",), ("::addmm", "::mm", "::linear"),
    ),
    Case(
        "bigger_padding", "the first convolution pads by two",
        lenet_infer, partial(lenet_infer, model=PaddedLeNet), ("output_grew",), CONVOLUTIONS,
    ),
    Case(
        "groups_dropped", "the depthwise convolution lost its groups",
        partial(depthwise_infer, groups=32), partial(depthwise_infer, groups=1), ("groups_dropped",), CONVOLUTIONS,
    ),
    Case(
        "forward_twice", "the model is run a second time for a monitor",
        mlp_classify, partial(mlp_classify, model=TwiceThrough), ("called_more_often",), ("::addmm", "::linear"),
    ),
    Case(
        "softmax_before_the_loss", "a softmax before a cross-entropy that has its own",
        mlp_classify, partial(mlp_classify, model=SoftmaxBefore), ("operator_added",), ("::softmax", "::_softmax"),
    ),
    Case(
        "autograd_left_on", "inference without torch.no_grad()",
        lenet_infer, without_no_grad, ("autograd_on",), ("autograd",),
    ),
    Case(
        "dropout_left_on", "dropout is left in training mode in inference",
        partial(encoder_dropping, train=False), partial(encoder_dropping, train=True), ("dropout_on",),
        ("::bernoulli_", "::native_dropout", "::dropout"),
    ),
    Case(
        "batch_norm_left_in_training", "batch normalisation is left in training mode in inference",
        partial(residual_in_mode, train=False), partial(residual_in_mode, train=True), ("batch_norm_in_training",),
        ("_batch_norm", "::batch_norm", "::add_", "_batch_norm_impl_index"),
    ),
)  # fmt: skip
