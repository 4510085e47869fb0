"""Files that are no traces, or damaged ones: the offset and the reason, never a traceback."""

from __future__ import annotations

import gzip
import json
import random
from contextlib import suppress

import pytest

pytest.importorskip("numpy")

from chrome import op, saved

from pytest_opcost.errors import InputError
from pytest_opcost.imports.files import import_file

EVENTS = [op(f"aten::größe_{i}", 10 * i, 5, i) for i in range(100)]


@pytest.fixture
def refusal(tmp_path):
    def message(content, name="t.json"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(InputError) as refused:
            import_file(path)
        return str(refused.value).replace(str(path), name)

    return message


@pytest.fixture
def whole(tmp_path):
    """A trace's bytes, its letters beyond ASCII as they are."""
    saved(tmp_path / "whole.json", EVENTS)
    document = json.loads((tmp_path / "whole.json").read_text(encoding="utf-8"))
    return json.dumps(document, ensure_ascii=False).encode()


def test_a_file_that_ends_within_an_event(refusal, whole):
    cut = whole[: whole.index(b"gr\xc3\xb6\xc3\x9fe_50") + 40]
    assert refusal(cut) == (
        f"t.json: this trace is damaged at byte {len(cut):,}: the file ends within an event.\n"
        "Found there: the end of the file\n"
        "Expected: the JSON that export_chrome_trace() writes, whole. Export or copy it again."
    )


def test_a_comma_that_is_missing(refusal, whole):
    at = whole.index(b', "pid"', 5000)
    told = refusal(whole[:at] + b" " + whole[at + 1 :])
    assert told.startswith(f"t.json: this trace is damaged at byte {at + 2:,}: expecting ',' delimiter.\n")


def test_bytes_of_another_file_in_the_middle(refusal, whole):
    at = whole.index(b'{"ph"', 5000)
    told = refusal(whole[:at] + b"\x00\x01garbage" + whole[at:])
    assert told.startswith(f"t.json: this trace is damaged at byte {at:,}: no value.\n")
    assert "Found there: '\\x00\\x01garbage{" in told


@pytest.mark.parametrize(
    ("field", "value"),
    [("ts", "null"), ("ts", '"soon"'), ("dur", "NaN"), ("dur", "[]"), ("name", "3"), ("ts", "1e400")],
)
def test_an_event_that_makes_no_sense(refusal, field, value):
    one = {**op("aten::mm", 1, 2), field: "?"}
    text = json.dumps([op("aten::add", 0, 1), one]).replace('"?"', value)
    told = refusal(text)
    assert f'the event before it, {"3" if field == "name" else repr("aten::mm")}, has no usable "{field}"' in told
    assert f"damaged at byte {len(text) - 1:,}" in told


def test_a_time_that_fits_nowhere(refusal):
    assert "is at no time that there is: 99999999999999999999" in refusal(
        json.dumps([op("a", 99999999999999999999, 1)])
    )


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", "an empty file"),
        ("  \n", "an empty file"),
        ("12", "'1'"),
        ("{}", "an object with nothing"),
        ('{"schema": 1, "tests": []}', "an object with 'schema', 'tests'"),
        ('{"traceEvents": 5}', "an object with 'traceEvents'"),
    ],
)
def test_no_trace(refusal, content, found):
    assert refusal(content).startswith(f"t.json: this is no trace.\nFound: {found}.\n")


@pytest.mark.parametrize("content", ["[5]", '[{"ph": "X"}, "x"]', "[null]"])
def test_events_that_are_none(refusal, content):
    assert "an event that is " in refusal(content)


def test_lists_within_lists_without_end(refusal):
    assert "lists in lists without end" in refusal("[" + "[" * 200_000)


def test_a_compressed_file_that_is_cut_off_or_damaged(refusal, whole):
    compressed = gzip.compress(whole)
    assert "Compressed file ended before the end-of-stream marker" in refusal(compressed[:-20], "t.json.gz")
    damaged = compressed[:100] + bytes(50) + compressed[150:]
    told = refusal(damaged, "t.json.gz")
    assert "damaged at byte" in told or "cannot be read" in told


def test_whatever_is_changed_or_cut_is_read_or_refused(tmp_path, whole):
    chance = random.Random(7)
    path = tmp_path / "t.json"
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            content[chance.randrange(len(content))] = chance.choice(b'{}[]",:0-e.\\x\xff\x00')
        if chance.random() < 0.3:
            del content[chance.randrange(len(content)) :]
        path.write_bytes(content)
        with suppress(InputError):
            import_file(path)
