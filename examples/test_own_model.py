"""A model of your own: one opcost test, compared with its baseline on every commit."""

import torch


def test_my_model(opcost, opcost_device, opcost_batch_size):
    model = torch.nn.Sequential(
        torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256), torch.nn.LayerNorm(256)
    ).to(opcost_device)
    inputs = torch.randn(opcost_batch_size, 256, device=opcost_device)
    opcost.check(lambda: model(inputs).sum().backward())
