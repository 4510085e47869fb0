"""The home that a model moved to."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from pytest_opcost.workloads.models import LeNet


class MovedLeNet(LeNet):
    """LeNet as it was, at other lines of another file."""

    def forward(self, images: Tensor) -> Tensor:
        out = F.relu(self.conv1(images))
        out = F.relu(self.conv2(out))
        out = self.dropout1(F.max_pool2d(out, 2))
        out = F.relu(self.fc1(torch.flatten(out, 1)))
        return F.log_softmax(self.fc2(self.dropout2(out)), dim=1)
