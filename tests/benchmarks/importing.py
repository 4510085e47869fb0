"""What `opcost import` takes for a large trace, beside json.load of the same file: python tests/benchmarks/importing.py

Each reads the file in a fresh process, in turns; time is that of the reading alone, memory the most that the process
ever held. Other JSON libraries (orjson, msgspec, ijson) are timed too where they are installed: the plugin needs none.
Nothing is asserted: the figures stand beside their targets.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGET_S, TARGET_MB = 20, 1000

_CHILD = """
import resource, sys, time
{imports}
path = sys.argv[1]
start = time.perf_counter()
{work}
took = time.perf_counter() - start
try:
    peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(took, peak / 1000)
"""
READERS = {
    "opcost import": (
        "from pathlib import Path\nfrom pytest_opcost.imports.files import import_file\n"
        "import pytest_opcost.imports.traced.profile",
        "import_file(Path(path))",
    ),
    "json.load, alone": ("import json", "kept = json.load(open(path, encoding='utf-8'))"),
    "orjson.loads, alone": ("import orjson", "kept = orjson.loads(open(path, 'rb').read())"),
    "msgspec, alone": ("import msgspec", "kept = msgspec.json.decode(open(path, 'rb').read())"),
    "ijson, event by event": ("import ijson", "for _ in ijson.items(open(path, 'rb'), 'traceEvents.item'): pass"),
}


def events(size: int) -> Iterator[str]:
    """Events of training steps on a GPU as Kineto writes them, some 480 bytes each, until they have this many bytes."""
    chance, written, step, ids = random.Random(1), 0, 0, 0
    names = [f"aten::operator_{i}" for i in range(60)]
    while written < size:
        at = 4_000_000_000.0 + 20_000 * step
        found = [_event("user_annotation", f"ProfilerStep#{step}", at, 19_000, {"External id": ids})]
        clock = at + 5
        for _ in range(150):
            ids += 4
            name, lasts = chance.choice(names), 20 + chance.random()
            for depth in range(3):
                more = {
                    "External id": ids + depth, "Record function id": 0, "Sequence number": ids, "Fwd thread id": 0,
                    "Concrete Inputs": ["", "", "[1, 1]"], "Input type": ["float", "float", "ScalarList"],
                    "Input Dims": [[16, 32, 26, 26], [64, 32, 3, 3], []], "Ev Idx": ids,
                }  # fmt: skip
                found.append(_event("cpu_op", f"{name}_{depth}", clock + depth, lasts - 2 * depth, more))
            joined = {"External id": ids + 2, "correlation": ids}
            found.append(_event("cuda_runtime", "cudaLaunchKernel", clock + 5, 4.5, {**joined, "cbid": 211}))
            shape = {
                "grid": [8, 8, 1],
                "block": [128, 1, 1],
                "registers per thread": 64,
                "est. achieved occupancy %": 31,
            }
            found.append(
                _event("kernel", f"void native::{name}<float>(float*)", clock + 30, 12.25, {**joined, **shape}, 0, 7)
            )
            clock += lasts + 10
        for event in found:
            text = json.dumps(event, indent=2)
            written += len(text) + 2
            yield text
        step += 1


def _event(category: str, name: str, ts: float, dur: float, args: object, pid: int = 10, tid: int = 10) -> object:
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": round(ts, 3), "dur": round(dur, 3),
            "args": args}  # fmt: skip


def write_trace(path: Path, size: int) -> int:
    """Write a trace of about so many bytes; how many events it has."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        file.write('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200"}], "traceEvents": [\n')
        for text in events(size):
            file.write(",\n" * (count > 0) + text)
            count += 1
        file.write('\n], "traceName": "trace.json"}\n')
    return count


def taken(reader: str, path: Path) -> tuple[float, float] | None:
    """Seconds and megabytes that a reader takes; None where its library is not installed."""
    imports, work = READERS[reader]
    child = _CHILD.format(imports=imports, work=work)
    run = subprocess.run([sys.executable, "-c", child, str(path)], capture_output=True, text=True, check=False)
    if run.returncode:
        if "ModuleNotFoundError" in run.stderr:
            return None
        sys.exit(run.stderr)
    seconds, megabytes = map(float, run.stdout.split())
    return seconds, megabytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200, help="the trace's size (200)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each reader (3)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        count = write_trace(path, options.megabytes * 1_000_000)
        size = path.stat().st_size / 1e6
        runs: dict[str, list[tuple[float, float]]] = {}
        for _ in range(options.repeats):
            for reader in READERS:
                if (one := taken(reader, path)) is not None:
                    runs.setdefault(reader, []).append(one)
    rows = []
    for reader, figures in runs.items():
        seconds, megabytes = (statistics.median(column) for column in zip(*figures))
        rows.append((reader, seconds, megabytes, size / seconds))
    print(f"A trace of {size:.0f} MB, {count:,} events; medians of {options.repeats} runs:")
    print(tabulate(rows, ("", "seconds", "memory MB", "MB/s"), floatfmt=(None, ".1f", ".0f", ".0f")))
    print(f"Targets of opcost import at 200 MB: at most {TARGET_S} s and {TARGET_MB} MB")


if __name__ == "__main__":
    main()
