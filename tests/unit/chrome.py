"""Chrome traces made by hand, as torch's profilers write them; times are microseconds."""

from __future__ import annotations

import gzip
import json

HOST, BACKWARD_THREAD = 100, 101


def event(name, ts, dur, cat="cpu_op", tid=HOST, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": HOST, "tid": tid, "ts": ts, "dur": dur, "args": args}


def op(name, ts, dur, external=0, tid=HOST):
    return event(name, ts, dur, tid=tid, **{"External id": external, "Ev Idx": 1})


def annotation(name, ts, dur):
    return event(name, ts, dur, "user_annotation")


def launch(ts, dur, correlation, **args):
    return event("cudaLaunchKernel", ts, dur, "cuda_runtime", correlation=correlation, cbid=211, **args)


def kernel(name, ts, dur, **args):
    return event(name, ts, dur, "kernel", tid=7, stream=7, device=0, **args)


def old(name, ts, dur, pid="CPU functions", tid=0):
    """An event of the profiler before Kineto."""
    return {"name": name, "ph": "X", "ts": ts, "dur": dur, "tid": tid, "pid": pid, "args": {}}


def saved(path, events, *, as_list=False, indent=None, **head):
    """Write the trace; compressed where the file's name says so."""
    document = events if as_list else {"schemaVersion": 1, **head, "traceEvents": events, "traceName": "t.json"}
    content = json.dumps(document, indent=indent).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path
