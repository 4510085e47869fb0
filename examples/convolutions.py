"""A convolution in three ways that give the same result: the seven loops, im2col and GEMM, the native operator.

All take images of shape (N, C, H, W) and filters of shape (F, C, K, K), without stride, padding or bias, and return
(N, F, H - K + 1, W - K + 1).
"""

from torch import Tensor
from torch.nn import functional as F


def seven_loops(images: Tensor, filters: Tensor) -> Tensor:
    """What a convolution is. Each turn of the innermost loop is one multiply-add, of single numbers."""
    batch, channels, height, width = images.shape
    out_channels, _, size, _ = filters.shape
    out_height, out_width = height - size + 1, width - size + 1
    out = images.new_zeros(batch, out_channels, out_height, out_width)
    for n in range(batch):
        for f in range(out_channels):
            for c in range(channels):
                for y in range(out_height):
                    for x in range(out_width):
                        for i in range(size):
                            for j in range(size):
                                out[n, f, y, x] += images[n, c, y + i, x + j] * filters[f, c, i, j]
    return out


def im2col_and_gemm(images: Tensor, filters: Tensor) -> Tensor:
    """The same as one matrix product: each window of the images is copied into a column, each filter is a row."""
    size = filters.shape[-1]
    columns = F.unfold(images, size)  # (N, C * K * K, windows): every pixel up to K * K times
    out = filters.flatten(1) @ columns
    return out.unflatten(2, (images.shape[2] - size + 1, images.shape[3] - size + 1))


def native(images: Tensor, filters: Tensor) -> Tensor:
    """The operator of the framework, which picks a library's implementation: oneDNN's on a CPU, cuDNN's on a GPU."""
    return F.conv2d(images, filters)
