"""Pictures for TensorBoard: the training images in a grid, and the step with its backward part as it was drawn."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from pytest_opcost.report.saving import as_png

if TYPE_CHECKING:
    from pytest_opcost.costs import CostProfile

SIDE_PX = 28
_GAP_PX = 2


def image_grid(pixels: bytes) -> bytes:
    """Grey images of 28 x 28 bytes, one after the other, as a PNG of as many rows as columns.

    A torn last image is left out; raises ValueError where there is no whole one.
    """
    import numpy as np
    from PIL import Image  # torchvision and matplotlib both need it

    size = SIDE_PX * SIDE_PX
    count = len(pixels) // size
    if count == 0:
        raise ValueError(f"found {len(pixels)} bytes of images, expected {size} for each")
    columns = math.ceil(math.sqrt(count))
    pitch = SIDE_PX + _GAP_PX
    grid = np.full((pitch * math.ceil(count / columns) + _GAP_PX, pitch * columns + _GAP_PX), 96, np.uint8)
    images = np.frombuffer(pixels[: count * size], np.uint8).reshape(count, SIDE_PX, SIDE_PX)
    for index, image in enumerate(images):
        row, column = (_GAP_PX + pitch * place for place in divmod(index, columns))
        grid[row : row + SIDE_PX, column : column + SIDE_PX] = image
    content = io.BytesIO()
    Image.fromarray(grid).save(content, "PNG")
    return content.getvalue()


def autograd_png(profile: CostProfile) -> bytes | None:
    """The step's phases drawn with what flows between them, None where there is nothing to draw."""
    if profile.flow is None or not any(node.place.phase == "backward" for node in profile.flow.nodes):
        return None
    from pytest_opcost.report.drawing import phases_figure

    return as_png(phases_figure(profile.flow, profile.total_us))
