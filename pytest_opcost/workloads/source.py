"""Which MNIST there is: the user's folder, a download, or the small sample that is shipped. No torch at import."""

from __future__ import annotations

import contextlib
import errno
import http.client
import io
import os
import socket
import tempfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.errors import DataError
from pytest_opcost.workloads.idx import FILE_NAMES, READ_ERRORS, open_idx, read_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLE_WORD = "sample"
"""Given instead of a folder: use the shipped images and never the network. A folder of that name is `./sample`."""

SAMPLE_FOLDER = Path(__file__).parent / "sample" / "MNIST" / "raw"

DOWNLOAD_TIMEOUT_S = 5.0
"""How long a silent server may hold up a test run before the sample takes over."""


_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
"""What a full disk says, a user's full quota, a limit on files: then the file that is read is not to blame."""


class Origin(Enum):
    """Where the images come from."""

    GIVEN = "given"
    DOWNLOADED = "downloaded"
    SAMPLE = "sample"


_MENDS = {
    Origin.GIVEN: f'Fetch the file again, or ask for "{SAMPLE_WORD}" to use the images shipped with the plugin.',
    Origin.DOWNLOADED: "Delete the file; the next run downloads the data set again.",
    Origin.SAMPLE: "Reinstall the plugin: pip install --force-reinstall --no-deps pytest-opcost",
}


@dataclass(frozen=True, slots=True)
class MnistSource:
    """The data set in use: the four IDX files, gzipped or not, that lie directly in `folder`.

    `note` says why it is not the data set one would expect; empty if there is nothing to say.
    """

    folder: Path
    origin: Origin
    note: str = ""

    def path(self, name: str) -> Path:
        """The file called `name` (one of `FILE_NAMES`): the plain one, or else the gzipped one."""
        plain = self.folder / name
        return plain if plain.exists() else plain.with_name(f"{name}.gz")

    @property
    def given(self) -> str:
        """What `find_mnist` finds this very data set by."""
        return SAMPLE_WORD if self.origin is Origin.SAMPLE else str(self.folder.absolute())

    def describe(self) -> str:
        """One line for a header or a result, with the figures of the files' own headers.

        Raises DataError for a damaged header.
        """
        train, test = (self._image_count(f"{part}-images-idx3-ubyte") for part in ("train", "t10k"))
        note = f" ({self.note})" if self.note else ""
        if self.origin is Origin.SAMPLE:
            return f"MNIST sample: {train:,} + {test:,} images shipped with pytest-opcost{note}"
        return f"MNIST: {train:,} + {test:,} images from {self.folder}{note}"

    def first_images(self, count: int = 64) -> bytes:
        """The pixels of the first training images, 28 x 28 bytes each, for a report to show.

        Raises DataError for a damaged file.
        """
        path = self.path("train-images-idx3-ubyte")
        with self.blaming(path):
            number, height, width = read_shape(path)
            with open_idx(path) as file:
                file.seek(16)  # behind the header
                return file.read(min(count, number) * height * width)

    def _image_count(self, name: str) -> int:
        path = self.path(name)
        with self.blaming(path):
            return read_shape(path)[0]

    @contextlib.contextmanager
    def blaming(self, path: Path) -> Iterator[None]:
        """Turns what reading `path` may raise into a DataError that names the file and the mend."""
        try:
            yield
        except READ_ERRORS as error:
            if isinstance(error, OSError) and error.errno in _FULL:
                raise DataError(
                    f"{path} cannot be unpacked: {error.strerror}.\n"
                    f"Expected: room for some 60 MB in {tempfile.gettempdir()}.\n"
                    "Make room there, or set TMPDIR to a folder that has it."
                ) from None
            raise DataError(f"{path} is damaged or cannot be read: {error}.\n{_MENDS[self.origin]}") from None


def find_mnist(given: str | None, cache: Path) -> MnistSource:
    """The data set to use; the files themselves are only read, and checked, when they are loaded.

    `given` is the user's folder, or the word "sample". Without it: the data set in `cache`, else torchvision's
    download into `cache`, else, where that fails, the shipped sample. Raises DataError if the given folder does not
    hold the four files, there or in its `MNIST/raw`.
    """
    if given == SAMPLE_WORD:
        return MnistSource(SAMPLE_FOLDER, Origin.SAMPLE)
    if given is not None:
        return _given(Path(given).expanduser())
    downloaded = MnistSource(cache / "MNIST" / "raw", Origin.DOWNLOADED)
    if not _missing(downloaded.folder):
        return downloaded
    try:
        _download(cache)
    # torchvision raises RuntimeError when every mirror failed; the other two are a connection that broke off and a
    # cache that cannot be written.
    except (RuntimeError, OSError, http.client.HTTPException) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
        return MnistSource(SAMPLE_FOLDER, Origin.SAMPLE, note=f"the download failed: {reason}")
    return downloaded


def _missing(folder: Path) -> set[str]:
    """The files that are not in `folder`, gzipped or not."""
    # os.path, unlike Path.is_file, answers no in a folder that may not be entered.
    return {n for n in FILE_NAMES if not (os.path.isfile(folder / n) or os.path.isfile(folder / f"{n}.gz"))}


def _given(root: Path) -> MnistSource:
    # torchvision's own layout comes first; where neither is whole, the message is about the fuller of the two.
    folder = min((root / "MNIST" / "raw", root), key=lambda layout: len(_missing(layout)))
    missing = _missing(folder)
    if not missing:
        return MnistSource(folder, Origin.GIVEN)
    if not os.path.isdir(root):
        found = f"{root} is not a folder"
    elif len(missing) == len(FILE_NAMES):
        found = f"{root} holds no MNIST data set"
    else:
        found = f"{folder} holds only a part of the MNIST data set"
    bullets = "\n".join(f"  - {name}: {'missing' if name in missing else 'found'}" for name in FILE_NAMES)
    raise DataError(
        f"{found}.\n"
        f"Expected four files, gzipped (.gz) or not, in that folder or in its MNIST/raw:\n{bullets}\n"
        f'Give the folder that holds them, or "{SAMPLE_WORD}" to use the images shipped with the plugin.'
    )


def _download(cache: Path) -> None:
    """Fetches the data set with torchvision; every file that appears in `cache` is whole."""
    import torchvision

    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="unfinished-") as unfinished:
        with _impatient(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            torchvision.datasets.MNIST(unfinished, download=True)
        fetched, kept = (root / "MNIST" / "raw" for root in (Path(unfinished), cache))
        kept.mkdir(parents=True, exist_ok=True)
        # File by file, as a folder cannot take the place of one that is there: what another process of this test
        # run has just put in place, or the remains of a download by someone else.
        for name in FILE_NAMES:
            os.replace(fetched / name, kept / name)


@contextlib.contextmanager
def _impatient() -> Iterator[None]:
    """Every new socket of the process gives up after `DOWNLOAD_TIMEOUT_S`; torchvision takes no timeout of its own."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(DOWNLOAD_TIMEOUT_S)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)
