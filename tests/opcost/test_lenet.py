"""The main job: what a step of `lenet`, the network of the PyTorch MNIST sample, costs."""

from __future__ import annotations


def test_train(opcost, lenet_step):
    opcost.check(lenet_step)


def test_infer(opcost, lenet, mnist, opcost_batch_size):
    from pytest_opcost.workloads.steps import inference_step

    images, _ = mnist.batch(opcost_batch_size)
    opcost.check(inference_step(lenet, images))
