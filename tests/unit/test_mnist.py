from __future__ import annotations

import errno
import gzip
import math
import os
import shutil
import socket
import struct
import sys
import urllib.error
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")

from pytest_opcost.errors import DataError  # noqa: E402
from pytest_opcost.workloads import source as source_room  # noqa: E402
from pytest_opcost.workloads.idx import FILE_NAMES  # noqa: E402
from pytest_opcost.workloads.mnist import (  # noqa: E402  # only where there are torch and torchvision
    MnistSource,
    Origin,
    find_mnist,
    load_mnist,
)

TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS = FILE_NAMES
SAMPLE = MnistSource(source_room.SAMPLE_FOLDER, Origin.SAMPLE)


def idx(*sizes: int, content: bytes | None = None) -> bytes:
    """An IDX file of unsigned bytes; without `content`, counting up from zero and round again at ten."""
    if content is None:
        content = bytes(i % 10 for i in range(math.prod(sizes)))
    return struct.pack(f">{1 + len(sizes)}I", 0x800 + len(sizes), *sizes) + content


def write_set(folder: Path, *, packed: bool, train: int = 20, test: int = 10) -> Path:
    """A tiny made-up MNIST in `folder`; a function, so that each test spoils its own."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        TRAIN_IMAGES: idx(train, 28, 28),
        TRAIN_LABELS: idx(train),
        TEST_IMAGES: idx(test, 28, 28),
        TEST_LABELS: idx(test),
    }
    for name, content in contents.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)
    return folder


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(autouse=True)
def no_download(monkeypatch):
    """No test of this file may reach for the network."""

    def download(self):
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(torchvision.datasets.MNIST, "download", download)


class TestGivenFolder:
    @pytest.mark.parametrize("packed", [True, False], ids=["gzipped", "plain"])
    @pytest.mark.parametrize("below", ["", "MNIST/raw"], ids=["flat", "torchvision"])
    def test_every_layout_is_found_and_loaded(self, tmp_path, below, packed):
        folder = write_set(tmp_path / "given" / below, packed=packed)
        before = snapshot(tmp_path)

        source = find_mnist(str(tmp_path / "given"), tmp_path / "cache")
        mnist = load_mnist(source, "cpu")

        assert source == MnistSource(folder, Origin.GIVEN)
        assert source.describe() == f"MNIST: 20 + 10 images from {folder}"
        assert mnist.source is source
        assert mnist.train_labels.tolist() == [*range(10), *range(10)]
        assert mnist.test_images.shape == (10, 1, 28, 28)
        assert snapshot(tmp_path) == before, "the user's folder was written to"
        assert not (tmp_path / "cache").exists()

    def test_a_folder_may_mix_gzipped_and_plain_files(self, tmp_path):
        write_set(tmp_path, packed=True)
        (tmp_path / f"{TEST_LABELS}.gz").unlink()
        (tmp_path / TEST_LABELS).write_bytes(idx(10, content=bytes([7] * 10)))
        assert load_mnist(find_mnist(str(tmp_path), tmp_path), "cpu").test_labels.tolist() == [7] * 10

    def test_home_is_understood(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("USERPROFILE", str(tmp_path))
        write_set(tmp_path / "data", packed=True)
        assert find_mnist("~/data", tmp_path / "cache").folder == tmp_path / "data"

    def test_no_such_folder(self, tmp_path):
        with pytest.raises(DataError) as caught:
            find_mnist(str(tmp_path / "nowhere"), tmp_path)
        assert f"{tmp_path / 'nowhere'} is not a folder." in str(caught.value)

    def test_an_empty_folder(self, tmp_path):
        with pytest.raises(DataError) as caught:
            find_mnist(str(tmp_path), tmp_path)
        message = str(caught.value)
        assert message.startswith(f"{tmp_path} holds no MNIST data set.")
        for name in FILE_NAMES:
            assert f"\n  - {name}: missing\n" in message
        assert 'Give the folder that holds them, or "sample"' in message

    @pytest.mark.parametrize("below", ["", "MNIST/raw"], ids=["flat", "torchvision"])
    def test_a_part_of_the_data_set(self, tmp_path, below):
        folder = write_set(tmp_path / below, packed=True)
        (folder / f"{TEST_LABELS}.gz").unlink()
        with pytest.raises(DataError) as caught:
            find_mnist(str(tmp_path), tmp_path)
        message = str(caught.value)
        assert message.startswith(f"{folder} holds only a part of the MNIST data set.")
        assert f"\n  - {TEST_LABELS}: missing\n" in message
        for name in (TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES):
            assert f"\n  - {name}: found\n" in message


HALF_PACKED = gzip.compress(os.urandom(2000))[:1000]

DAMAGES = {
    "half a gzip": (f"{TRAIN_IMAGES}.gz", HALF_PACKED, "ended before the end-of-stream marker"),
    "not a gzip": (f"{TRAIN_IMAGES}.gz", b"<html>404</html>", "Not a gzipped file"),
    "gzip with a hole": (
        f"{TRAIN_IMAGES}.gz",
        gzip.compress(idx(20, 28, 28))[:30] + b"\xff" * 200,
        "while decompressing data",
    ),
    "empty": (TRAIN_LABELS, b"", "found magic number nothing, expected 00000801"),
    "wrong magic": (TRAIN_LABELS, b"\x00\x00\x08\x02" + bytes(24), "found magic number 00000802, expected 00000801"),
    "labels for images": (TEST_IMAGES, idx(10), "found magic number 00000801, expected 00000803"),
    "half a header": (TEST_IMAGES, idx(10, 28, 28)[:10], "the end of the file within its header"),
    "other images": (TEST_IMAGES, idx(10, 32, 32), "found the sizes 10 x 32 x 32, expected at least 1 x 28 x 28"),
    "no images": (TEST_IMAGES, idx(0, 28, 28), "found the sizes 0 x 28 x 28, expected at least 1 x 28 x 28"),
    "truncated": (TEST_IMAGES, idx(10, 28, 28)[:-1], "found 7,855 bytes (uncompressed), expected 7,856"),
    "truncated inside gzip": (f"{TEST_IMAGES}.gz", gzip.compress(idx(10, 28, 28)[:-1]), "found 7,855 bytes"),
    "too long": (TEST_LABELS, idx(10) + b"\x00", "found 19 bytes (uncompressed), expected 18"),
    "too few labels": (TEST_LABELS, idx(9), "found 9 labels for the 10 images beside it"),
    "not a digit": (TEST_LABELS, idx(10, content=bytes(range(1, 11))), "found the label 10, expected 0 to 9"),
}


class TestDamage:
    @pytest.mark.parametrize(("name", "content", "reason"), DAMAGES.values(), ids=DAMAGES.keys())
    def test_names_the_file_the_damage_and_the_mend(self, tmp_path, name, content, reason):
        write_set(tmp_path, packed=name.endswith(".gz"))
        (tmp_path / name).write_bytes(content)
        source = find_mnist(str(tmp_path), tmp_path)
        with pytest.raises(DataError) as caught:
            load_mnist(source, "cpu")
        message = str(caught.value)
        assert message.startswith(f"{tmp_path / name} is damaged or cannot be read: ")
        assert reason in message
        assert "\nFetch the file again" in message

    def test_describing_reads_only_the_header(self, tmp_path):
        write_set(tmp_path, packed=False)
        (tmp_path / TRAIN_IMAGES).write_bytes(idx(10, 28, 28)[:16])
        (tmp_path / TEST_LABELS).write_bytes(b"")
        assert find_mnist(str(tmp_path), tmp_path).describe() == f"MNIST: 10 + 10 images from {tmp_path}"

    def test_describing_a_damaged_header(self, tmp_path):
        write_set(tmp_path, packed=True)
        (tmp_path / f"{TEST_IMAGES}.gz").write_bytes(b"nonsense")
        with pytest.raises(DataError, match=rf"{TEST_IMAGES}\.gz is damaged .*Not a gzipped file"):
            find_mnist(str(tmp_path), tmp_path).describe()

    @pytest.mark.parametrize(("origin", "mend"), [(Origin.DOWNLOADED, "Delete the file"), (Origin.SAMPLE, "Reinstall")])
    def test_the_mend_depends_on_the_origin(self, tmp_path, origin, mend):
        write_set(tmp_path, packed=False)
        (tmp_path / TEST_LABELS).write_bytes(b"")
        with pytest.raises(DataError, match=rf"\n{mend}"):
            load_mnist(MnistSource(tmp_path, origin), "cpu")

    @pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG])
    def test_a_full_disk_is_no_damage_of_the_file(self, tmp_path, monkeypatch, code):
        write_set(tmp_path, packed=True)

        def full(source, target):
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(shutil, "copyfileobj", full)
        with pytest.raises(DataError) as caught:
            load_mnist(find_mnist(str(tmp_path), tmp_path), "cpu")
        message = str(caught.value)
        assert message.startswith(f"{tmp_path / TRAIN_IMAGES}.gz cannot be unpacked: {os.strerror(code)}.\n")
        assert "set TMPDIR" in message
        assert "damaged" not in message


class TestDownload:
    """torchvision's download stands in for the network: it writes into its `raw_folder`, or fails."""

    def test_a_whole_set_in_the_cache_is_used_as_it_is(self, tmp_path):
        folder = write_set(tmp_path / "MNIST" / "raw", packed=False)
        source = find_mnist(None, tmp_path)
        assert source == MnistSource(folder, Origin.DOWNLOADED)
        assert source.describe() == f"MNIST: 20 + 10 images from {folder}"

    def test_a_download_is_kept_in_the_cache(self, tmp_path, monkeypatch, capsys):
        cache, calls = tmp_path / "not" / "there" / "yet", []

        def download(self):
            calls.append(socket.getdefaulttimeout())
            print("Downloading")
            print("100%", file=sys.stderr)
            write_set(Path(self.raw_folder), packed=False)
            write_set(Path(self.raw_folder), packed=True)

        monkeypatch.setattr(torchvision.datasets.MNIST, "download", download)
        before = socket.getdefaulttimeout()
        first, second = find_mnist(None, cache), find_mnist(None, cache)

        assert first == second == MnistSource(cache / "MNIST" / "raw", Origin.DOWNLOADED)
        assert calls == [source_room.DOWNLOAD_TIMEOUT_S]
        assert socket.getdefaulttimeout() == before
        assert capsys.readouterr() == ("", "")
        assert sorted(snapshot(cache)) == sorted(f"MNIST/raw/{name}" for name in FILE_NAMES)
        assert [p.name for p in cache.iterdir()] == ["MNIST"], "the temporary folder was left behind"
        assert load_mnist(first, "cpu").train_images.shape == (20, 1, 28, 28)

    @pytest.mark.parametrize(
        "error",
        [
            urllib.error.URLError("no route"),
            RuntimeError("Error downloading x:\nTried a mirror, got:\n<urlopen error no route>\n"),
            TimeoutError("no route"),
            source_room.http.client.IncompleteRead(b"no route"),
        ],
        ids=lambda error: type(error).__name__,
    )
    def test_without_a_network_the_sample_is_used(self, tmp_path, monkeypatch, error):
        def download(self):
            raise error

        monkeypatch.setattr(torchvision.datasets.MNIST, "download", download)
        before = socket.getdefaulttimeout()
        source = find_mnist(None, tmp_path)
        assert (source.folder, source.origin) == (SAMPLE.folder, Origin.SAMPLE)
        assert source.describe().startswith("MNIST sample: 1,000 + 500 images shipped with pytest-opcost (the download")
        assert "\n" not in source.describe()
        assert socket.getdefaulttimeout() == before

    def test_the_reason_is_the_last_one_of_the_mirrors(self, tmp_path, monkeypatch):
        def download(self):
            raise RuntimeError("Error downloading x:\nTried a, got:\n<no route to a>\nTried b, got:\n<no route to b>\n")

        monkeypatch.setattr(torchvision.datasets.MNIST, "download", download)
        assert find_mnist(None, tmp_path).note == "the download failed: <no route to b>"

    def test_half_a_download_is_never_taken_for_whole(self, tmp_path, monkeypatch):
        def broken_off(self):
            raw = write_set(Path(self.raw_folder), packed=False)
            (raw / TEST_LABELS).write_bytes(b"\x00\x00")
            raise urllib.error.URLError("connection reset")

        monkeypatch.setattr(torchvision.datasets.MNIST, "download", broken_off)
        assert find_mnist(None, tmp_path).origin is Origin.SAMPLE
        assert snapshot(tmp_path) == {}

        monkeypatch.setattr(
            torchvision.datasets.MNIST, "download", lambda self: write_set(Path(self.raw_folder), packed=False)
        )
        assert find_mnist(None, tmp_path).origin is Origin.DOWNLOADED, "the next run does not try again"

    def test_the_remains_of_another_download_are_completed(self, tmp_path, monkeypatch):
        write_set(tmp_path / "MNIST" / "raw", packed=False, train=5)
        (tmp_path / "MNIST" / "raw" / TEST_IMAGES).unlink()
        monkeypatch.setattr(
            torchvision.datasets.MNIST, "download", lambda self: write_set(Path(self.raw_folder), packed=False)
        )
        source = find_mnist(None, tmp_path)
        assert source.describe() == f"MNIST: 20 + 10 images from {tmp_path / 'MNIST' / 'raw'}"

    def test_a_cache_that_cannot_be_written(self, tmp_path):
        (tmp_path / "file").touch()
        assert find_mnist(None, tmp_path / "file").origin is Origin.SAMPLE


def test_the_word_sample_uses_neither_network_nor_cache(tmp_path):
    write_set(tmp_path / "MNIST" / "raw", packed=False)
    source = find_mnist("sample", tmp_path)
    assert source == SAMPLE
    assert source.describe() == "MNIST sample: 1,000 + 500 images shipped with pytest-opcost"


def test_loading_leaves_nothing_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    load_mnist(SAMPLE, "cpu")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_enough(tmp_path):
    folder = write_set(tmp_path / "given", packed=True)
    folder.chmod(0o500)
    try:
        assert len(load_mnist(find_mnist(str(folder), tmp_path), "cpu").train_labels) == 20
    finally:
        folder.chmod(0o700)
        shutil.rmtree(folder)
