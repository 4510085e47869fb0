"""Other models than the Lab's, so that verdicts are tried on operators that no LeNet has: attention and its softmax,
GELU and SiLU, layer and batch normalisation, grouped convolutions, recurrent layers, embeddings, Adam.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from pytest_opcost.workloads.steps import inference_step

if TYPE_CHECKING:
    from collections.abc import Callable

VOCABULARY, TOKENS, WIDTH, CLASSES = 200, 64, 128, 10


class Block(nn.Module):
    """A transformer's layer, normalised before attention and before the perceptron, as GPT-2 has it."""

    def __init__(self, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_perceptron = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.project_in, self.project_out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, width = x.shape
        parts = self.project_in(self.before_attention(x)).chunk(3, dim=-1)
        query, key, value = (part.view(batch, tokens, self.heads, -1).transpose(1, 2) for part in parts)
        weights = torch.softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, dim=-1)
        x = x + self.project_out((weights @ value).transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(functional.gelu(self.up(self.before_perceptron(x))))


class Transformer(nn.Module):
    """Two such layers; batches of 64 tokens of 200 kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.blocks = nn.Embedding(VOCABULARY, WIDTH), nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.embedding(tokens)).mean(dim=1))


class ConvNet(nn.Sequential):
    """Convolutions as networks for phones have them: grouped, batch-normalised, with SiLU; images of 16 x 32 x 32."""

    def __init__(self) -> None:
        super().__init__(
            *(nn.Conv2d(16, 32, 1), nn.BatchNorm2d(32), nn.SiLU()),
            *(nn.Conv2d(32, 32, 3, padding=1, groups=32), nn.BatchNorm2d(32), nn.SiLU(), nn.AvgPool2d(2)),
            *(nn.Conv2d(32, 64, 3, padding=1, groups=4), nn.BatchNorm2d(64), nn.Hardswish()),
            *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, CLASSES)),
        )


class Recurrent(nn.Module):
    """An LSTM over 64 tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.lstm = nn.Embedding(VOCABULARY, WIDTH), nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(torch.tanh(self.lstm(self.embedding(tokens))[0][:, -1]))


NETWORKS = {"Transformer": Transformer, "ConvNet": ConvNet, "Recurrent": Recurrent}
#: Twelve steps: network, kind and batch size.
WORKLOADS = [(network, kind, batch) for network in NETWORKS for kind in ("train", "infer") for batch in (1, 8)]


def model_step(network: str, kind: str, batch: int, device: str) -> Callable[[], None]:
    """A step of `kind` "train" or "infer", its model and its inputs new and on the device.

    The inputs are the same in every process.
    """
    torch.manual_seed(0)
    model = NETWORKS[network]().to(device)
    shape, tokens = (batch, 16, 32, 32), (batch, TOKENS)
    inputs = torch.randn(shape) if network == "ConvNet" else torch.randint(0, VOCABULARY, tokens)
    inputs = inputs.to(device)
    if kind == "infer":
        return inference_step(model.eval(), inputs)
    optimizer, labels = torch.optim.AdamW(model.parameters()), torch.arange(batch, device=device) % CLASSES

    def step() -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()

    return step
