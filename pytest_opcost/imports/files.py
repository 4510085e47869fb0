"""A file, whatever is in it: a trace or printed tables -> results."""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_opcost.errors import InputError
from pytest_opcost.imports.document import result_of
from pytest_opcost.imports.known import Known

if TYPE_CHECKING:
    from io import BufferedIOBase, BufferedReader

    from pytest_opcost.results import CheckResult

_GZIP = b"\x1f\x8b"
#: How a trace begins; a text may well begin with a bracket, as torch's own warnings do: `[W kineto_shim.cpp:330]`.
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*(?:[\]{]|$))")
#: A printed table longer than this is none.
_LONGEST_TEXT = 256 * 1024 * 1024


def import_file(path: Path, known: Known | None = None) -> list[CheckResult]:
    """What a file holds, each profile as a check that was not judged: one of a trace, one for each table of a text.

    A gzip file is decompressed on the way. Raises InputError where it cannot be read, is damaged, or is neither.
    """
    known = known or Known()
    try:
        with path.open("rb") as file:
            return _imported(_decompressed(file), path, known)
    except (OSError, EOFError, zlib.error) as error:  # the last two are of a gzip file that is cut off or damaged
        raise InputError(
            f"{path}: this file cannot be read: {getattr(error, 'strerror', None) or error}.\n"
            "Expected: a printed table of torch's profiler, or a trace (.json, .json.gz)."
        ) from None


def _imported(file: BufferedIOBase, path: Path, known: Known) -> list[CheckResult]:
    begins, name = file.peek(64)[:64], path.name  # type: ignore[attr-defined]
    if name.removesuffix(".gz").endswith(".json") or _JSON.match(begins):
        from pytest_opcost.imports.traced.profile import profile_from_trace

        return [result_of(profile_from_trace(file, str(path), known), name, known)]
    from pytest_opcost.imports.printed.profile import profile_from_table
    from pytest_opcost.imports.printed.reading import printed_tables

    tables = printed_tables(_text(file, path), str(path))
    return [
        result_of(
            profile_from_table(table, known, str(path)), name, known, f"line {table.line}" if len(tables) > 1 else None
        )
        for table in tables
    ]


def _decompressed(file: BufferedReader) -> BufferedIOBase:
    return gzip.GzipFile(fileobj=file) if file.peek(2)[:2] == _GZIP else file


def _text(file: BufferedIOBase, path: Path) -> str:
    """A text in UTF-8, or in UTF-16 with its mark, as PowerShell redirects output."""
    content = file.read(_LONGEST_TEXT + 1)
    if len(content) > _LONGEST_TEXT:
        raise InputError(
            f"{path}: this text is longer than {_LONGEST_TEXT >> 20} MB.\nExpected: a printed table, or a trace."
        )
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return content.decode(encoding, "replace")
