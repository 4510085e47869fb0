"""A JSON file block by block is what `json` reads of it at once."""

from __future__ import annotations

import io
import json

import pytest

from pytest_opcost.imports.traced import json_stream
from pytest_opcost.imports.traced.json_stream import TraceFile

EVENTS = [
    {"name": 'quoted "\\ größe 😀', "ts": 12345678, "args": {"list": [[1, 2], []], "none": None}},
    {},
    {"a" * 50: "b" * 200, "dur": -17},
]
FORMS = {
    "an object": {"first": {"deep": [1]}, "traceEvents": EVENTS, "last": 250},
    "a list": EVENTS,
    "no events": {"traceEvents": [], "x": "y"},
}


@pytest.mark.parametrize("block", [1, 2, 3, 7, 64, 1 << 20])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("style", [{}, {"indent": 3}, {"ensure_ascii": False}, {"separators": (",", ":")}])
def test_blocks_of_any_size(monkeypatch, block, form, style):
    monkeypatch.setattr(json_stream, "_BLOCK", block)
    document = FORMS[form]
    trace = TraceFile(io.BytesIO(json.dumps(document, **style).encode()), "t.json")
    if form == "a list":
        assert list(trace) == document
    else:
        assert list(trace) == document["traceEvents"]
        assert trace.head == {key: value for key, value in document.items() if key != "traceEvents"}


def test_a_fraction_comes_as_it_is_written():
    (event,) = TraceFile(io.BytesIO(b'[{"ts": 1712345678901234.001, "dur": 5}]'), "t.json")
    assert event == {"ts": "1712345678901234.001", "dur": 5}


def test_what_was_read_is_forgotten(monkeypatch):
    monkeypatch.setattr(json_stream, "_BLOCK", 1000)
    trace = TraceFile(io.BytesIO(json.dumps([{"name": "x" * 90}] * 1000).encode()), "t.json")
    assert max(len(trace._text) for _ in trace) < 3000
