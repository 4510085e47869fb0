"""The Lab's training: LeNet learns MNIST, at every batch size and on every device."""

from __future__ import annotations


def test_lenet(lenet_training):
    first, last = lenet_training.losses[0], lenet_training.losses[-1]
    assert last < first / 2
    assert [when for when, _ in lenet_training.costs] == ["start", "middle", "end"]
    if lenet_training.images < 60_000:
        assert lenet_training.test_accuracies[-1] > 0.5  # of ten digits, a guess finds one in ten
        return
    assert lenet_training.test_accuracies[-1] >= 0.97
