"""The last measured step as a Chrome trace, which Perfetto (ui.perfetto.dev) and chrome://tracing open."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_opcost.results import CheckResult


def chrome_trace(result: CheckResult) -> bytes:
    """Gzipped JSON in the Trace Event Format: a track for each thread of the host, one for the device; microseconds.

    It is one step as the profiler saw it, not a median: figures in the report's tables are another matter.
    """
    spans = result.profile.timeline
    tracks = {track: number for number, track in enumerate(dict.fromkeys(span.track for span in spans), 1)}
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "tid": number, "name": "thread_name", "args": {"name": track}}
        for track, number in tracks.items()
    ]
    events += [
        {
            "ph": "X", "pid": 1, "tid": tracks[span.track], "name": span.name, "cat": span.kind,
            "ts": round(span.start_us, 3), "dur": round(span.duration_us, 3),
        }
        for span in spans
    ]  # fmt: skip
    other = {"test": result.subject.title, "what": "the last measured step, as the profiler saw it"}
    text = json.dumps({"traceEvents": events, "displayTimeUnit": "ns", "otherData": other}, allow_nan=False)
    # Of a page on disk a browser would show a .json, and only save what it cannot show.
    return gzip.compress(text.encode(), mtime=0)
