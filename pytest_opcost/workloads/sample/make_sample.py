"""Makes the shipped sample from the whole MNIST: the first images of each digit. See the README.md beside it.

Usage: python make_sample.py DIR, where DIR holds the four gzipped IDX files of MNIST.
"""

from __future__ import annotations

import gzip
import struct
import sys
from collections import Counter
from pathlib import Path

IMAGES_PER_DIGIT = {"train": 100, "t10k": 50}
IMAGE_BYTES = 28 * 28
IMAGES_HEADER_BYTES, LABELS_HEADER_BYTES = 16, 8


def first_of_each(labels: bytes, limit: int) -> list[int]:
    """The places of the first `limit` of every digit, in their original order."""
    seen: Counter[int] = Counter()
    places = []
    for place, digit in enumerate(labels):
        seen[digit] += 1
        if seen[digit] <= limit:
            places.append(place)
    return places


def write_gzip(path: Path, content: bytes) -> None:
    """Without a name or a time in the header, so that the same content makes the same file."""
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, fileobj=file, mtime=0) as packed:
        packed.write(content)


def make_part(full: Path, target: Path, part: str) -> None:
    """Writes one part, `train` or `t10k`, of the sample."""
    images_name, labels_name = f"{part}-images-idx3-ubyte.gz", f"{part}-labels-idx1-ubyte.gz"
    images = gzip.decompress((full / images_name).read_bytes())[IMAGES_HEADER_BYTES:]
    labels = gzip.decompress((full / labels_name).read_bytes())[LABELS_HEADER_BYTES:]
    places = first_of_each(labels, IMAGES_PER_DIGIT[part])
    chosen = b"".join(images[place * IMAGE_BYTES : (place + 1) * IMAGE_BYTES] for place in places)
    write_gzip(target / images_name, struct.pack(">4I", 0x803, len(places), 28, 28) + chosen)
    write_gzip(target / labels_name, struct.pack(">2I", 0x801, len(places)) + bytes(labels[place] for place in places))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    raw = Path(__file__).parent / "MNIST" / "raw"
    raw.mkdir(parents=True, exist_ok=True)
    for name in IMAGES_PER_DIGIT:
        make_part(Path(sys.argv[1]), raw, name)
