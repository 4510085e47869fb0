"""The Lab's training: LeNet learns MNIST, at every batch size and on every device."""

from __future__ import annotations

_LAB_EPOCHS = 14


def test_lenet(lenet_training):
    assert min(lenet_training.losses) < lenet_training.losses[0]
    assert [when for when, _ in lenet_training.costs] == ["start", "middle", "end"]
    accuracy, loss = lenet_training.test_accuracies[-1], lenet_training.test_losses[-1]
    if lenet_training.images < 60_000:
        assert accuracy > 0.2  # of ten digits a guess finds one in ten
    elif lenet_training.batch_size != 64:
        assert accuracy > 0.9
    elif lenet_training.epochs < _LAB_EPOCHS:
        assert accuracy >= 0.98
    else:
        assert accuracy >= 0.991
        assert loss <= 0.03
