from __future__ import annotations

import gzip

import pytest

from pytest_opcost.errors import DataError
from pytest_opcost.workloads.source import SAMPLE_FOLDER, MnistSource, Origin

NAME = "train-images-idx3-ubyte"


def test_the_first_images_are_the_file_s_first_pixels():
    found = MnistSource(SAMPLE_FOLDER, Origin.SAMPLE).first_images(3)
    content = gzip.decompress((SAMPLE_FOLDER / f"{NAME}.gz").read_bytes())
    assert found == content[16 : 16 + 3 * 784]


def test_there_are_no_more_than_the_file_holds():
    assert len(MnistSource(SAMPLE_FOLDER, Origin.SAMPLE).first_images(5000)) == 1000 * 784


@pytest.mark.parametrize("content", [b"torn", b"not gzip at all, and long enough to be a header"])
def test_a_damaged_file_is_named(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(DataError, match=f"{NAME} is damaged or cannot be read"):
        MnistSource(tmp_path, Origin.GIVEN).first_images()
