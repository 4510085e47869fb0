"""The IDX files of MNIST: their names, their headers, and finding damage before it becomes wrong data."""

from __future__ import annotations

import gzip
import math
import shutil
import struct
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import BufferedReader
    from pathlib import Path

FILE_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)

READ_ERRORS = (OSError, EOFError, zlib.error, ValueError)
"""What the functions of this room raise for a file that is damaged or cannot be read."""

_IMAGE_SIDE_PX = 28


def open_idx(path: Path) -> gzip.GzipFile | BufferedReader:
    """The file's plain bytes, whether it is gzipped (`.gz`) or not."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def read_shape(path: Path) -> tuple[int, ...]:
    """The sizes in the header: (N, 28, 28) for images, (N,) for labels, read from a few bytes of the file.

    Raises one of `READ_ERRORS`: a ValueError, saying what was found and expected, for a header that is not MNIST's.
    """
    # The name tells the number of dimensions, idx3 or idx1. The header is a magic number (two zero bytes, 8 for
    # unsigned bytes, the number of dimensions) and then each size, four bytes each, the highest first.
    dimensions = 3 if "idx3" in path.name else 1
    expected = bytes([0, 0, 8, dimensions])
    with open_idx(path) as file:
        magic, sizes = file.read(4), file.read(4 * dimensions)
    if magic != expected:
        raise ValueError(f"found magic number {magic.hex() or 'nothing'}, expected {expected.hex()}")
    if len(sizes) != 4 * dimensions:
        raise ValueError("found the end of the file within its header")
    shape = struct.unpack(f">{dimensions}I", sizes)
    if shape[0] == 0 or any(side != _IMAGE_SIDE_PX for side in shape[1:]):
        wanted = ("at least 1",) + (str(_IMAGE_SIDE_PX),) * (dimensions - 1)
        raise ValueError(f"found the sizes {' x '.join(map(str, shape))}, expected {' x '.join(wanted)}")
    return shape


def plain_file(path: Path, scratch: Path) -> Path:
    """A whole, uncompressed file with the content of `path`: itself, or its decompressed copy in `scratch`.

    Raises one of `READ_ERRORS`: a ValueError where the header is not MNIST's or the content does not fill it exactly.
    """
    if path.suffix == ".gz":
        plain = scratch / path.stem
        with open_idx(path) as packed, plain.open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
    else:
        plain = path
    shape = read_shape(plain)
    found, expected = plain.stat().st_size, 4 + 4 * len(shape) + math.prod(shape)
    if found != expected:
        raise ValueError(f"found {found:,} bytes (uncompressed), expected {expected:,} by its header")
    return plain
