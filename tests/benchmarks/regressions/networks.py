"""The small networks of the catalogue, as they are before anybody touches them."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Mlp(nn.Module):
    """Three layers; takes (N, 256), returns logits of shape (N, 10)."""

    def __init__(self, hidden: int = 512) -> None:
        super().__init__()
        self.fc1 = nn.Linear(256, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Attention(nn.Module):
    """Causal self-attention over (N, T, 64) with four heads, its parts open to patches."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(64, 192)
        self.proj = nn.Linear(64, 64)

    def heads(self, x: Tensor) -> list[Tensor]:
        """Queries, keys and values, each of shape (N, 4, T, 16)."""
        batch, length, _ = x.shape
        return [part.view(batch, length, 4, 16).transpose(1, 2) for part in self.qkv(x).split(64, dim=2)]

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        out = self.attend(*self.heads(x))
        return self.proj(out.transpose(1, 2).reshape(batch, length, width))


class Encoder(nn.Module):
    """One block of a transformer over (N, T, 64); `attention` is the class of its attention."""

    def __init__(self, attention: type[nn.Module] = Attention, dropout: float = 0.0) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(64), nn.LayerNorm(64)
        self.attention = attention()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.dropout(self.attention(self.norm1(x)))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)))))


class Depthwise(nn.Module):
    """A block as MobileNets have it: a depthwise convolution and a pointwise one, over (N, 32, H, W)."""

    def __init__(self, groups: int = 32) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(32, 32, 3, padding=1, groups=groups)
        self.pointwise = nn.Conv2d(32, 64, 1)

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.pointwise(F.relu(self.depthwise(x))))


class Residual(nn.Module):
    """Two convolutions with batch normalisation and a shortcut, over (N, 32, H, W), between a stem and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, 32, 3, padding=1)
        self.conv1, self.bn1 = nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.conv2, self.bn2 = nn.Conv2d(32, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.relu = nn.ReLU(inplace=True)
        self.head = nn.Linear(32, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu(self.stem(x))
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)) + x)
        return self.head(out.mean((2, 3)))


class Recurrent(nn.Module):
    """An LSTM over (N, T, 32); returns (N, T, 64)."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(32, 64, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(x)[0]


class Words(nn.Module):
    """The mean of the embeddings of words, and a layer on top; takes (N, T) of int64, returns (N, 10)."""

    def __init__(self, sparse: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20_000, 64, sparse=sparse)
        self.head = nn.Linear(64, 10)

    def forward(self, words: Tensor) -> Tensor:
        return self.head(self.embedding(words).mean(1))


class Cells(nn.Module):
    """A recurrence written out, which gathers its states; takes (N, T, 32), returns (N, T, 64)."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(32, 64)

    def gather(self, states: list[Tensor]) -> Tensor:
        return torch.stack(states, dim=1)

    def forward(self, x: Tensor) -> Tensor:
        state, states = x.new_zeros(len(x), 64), []
        for word in x.unbind(1):
            state = self.cell(word, state)
            states.append(state)
        return self.gather(states)
