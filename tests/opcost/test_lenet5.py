"""The main job: what a step of `lenet5`, the textbook's network, costs."""

from __future__ import annotations


def test_train(opcost, lenet5, mnist, opcost_batch_size):
    from pytest_opcost.workloads.mnist import lenet5_images
    from pytest_opcost.workloads.steps import training_step

    images, labels = mnist.batch(opcost_batch_size)
    opcost.check(training_step(lenet5, lenet5_images(images), labels))


def test_infer(opcost, lenet5, mnist, opcost_batch_size):
    from pytest_opcost.workloads.mnist import lenet5_images
    from pytest_opcost.workloads.steps import inference_step

    images, _ = mnist.batch(opcost_batch_size)
    opcost.check(inference_step(lenet5, lenet5_images(images)))
