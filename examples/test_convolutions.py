"""What a convolution costs as the seven loops, as im2col and GEMM, and as the native operator."""

from functools import partial

import torch
from convolutions import im2col_and_gemm, native, seven_loops

FILTERS, CHANNELS, SIZE = 6, 3, 5  # the first layer of the textbook's LeNet


def whole_numbers(device, *shape):
    """Small ones: however a convolution adds up their products, no digit is lost."""
    return torch.randint(-4, 5, shape, device=device).float()


def test_tiny(opcost, opcost_device):
    """144 multiply-adds: the loops call 35 operators for each of them, the other two 28 and 10 for all."""
    images, filters = whole_numbers(opcost_device, 1, 2, 4, 4), whole_numbers(opcost_device, 2, 2, 3, 3)
    expected = native(images, filters)
    for name, convolution in ("seven loops", seven_loops), ("im2col + GEMM", im2col_and_gemm), ("native", native):
        step = partial(convolution, images, filters)
        torch.testing.assert_close(step(), expected)
        opcost.check(step, name=name, warmup=1, steps=10)  # few: the profiler keeps every call of the loops


def test_lenet_layer(opcost, opcost_device, opcost_batch_size):
    """352,800 multiply-adds an image, as the layer has in LeNet: the loops would take some five seconds for one."""
    images = whole_numbers(opcost_device, opcost_batch_size, CHANNELS, 32, 32)
    filters = whole_numbers(opcost_device, FILTERS, CHANNELS, SIZE, SIZE)
    expected = native(images, filters)
    for name, convolution in ("im2col + GEMM", im2col_and_gemm), ("native", native):
        step = partial(convolution, images, filters)
        torch.testing.assert_close(step(), expected)
        opcost.check(step, name=name)


def test_same_arithmetic(opcost, opcost_device):
    """Both do the same multiply-adds, but im2col first writes every pixel up to 25 times, into memory of its own."""
    images = whole_numbers(opcost_device, 1, CHANNELS, 32, 32)
    filters = whole_numbers(opcost_device, FILTERS, CHANNELS, SIZE, SIZE)
    product = opcost.profile(partial(im2col_and_gemm, images, filters))
    convolution = opcost.profile(partial(native, images, filters))
    assert product.flops == convolution.flops == 2 * FILTERS * CHANNELS * SIZE * SIZE * 28 * 28
    columns = CHANNELS * SIZE * SIZE * 28 * 28 * images.element_size()
    allocated = sum(op.facts.alloc_bytes for op in product.ops)
    assert allocated > columns > 19 * images.nbytes
