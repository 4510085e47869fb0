"""Printed tables of torch's profilers by version, in the layouts of their sources; the figures are made up."""

from __future__ import annotations

from pathlib import Path


def _table(name: str) -> str:
    # A file each: editors and formatters leave the blanks at the end of their lines alone.
    return (Path(__file__).parent / "tables" / f"{name}.txt").read_text(encoding="utf-8")


#: torch 0.4 and 1.0: whole times only, in another order; a title of its own.
TORCH_1_0 = _table("torch-1.0")
#: torch 1.4 without CUDA, as a student pasted it: the first rule is torn, the name's column is one short.
TORCH_1_4 = _table("torch-1.4-pasted")
#: torch 1.1 to 1.5 with CUDA and shapes: no self times of the device.
TORCH_1_5_CUDA = _table("torch-1.5-cuda-shapes")
#: torch 1.6 and 1.7 with CUDA and memory; names have their namespace from 1.7 on.
TORCH_1_7_CUDA = _table("torch-1.7-cuda-memory")
#: torch 1.8 and newer with CUDA: kernels and annotations on the device are rows of their own; steps are marked.
TORCH_2_CUDA = _table("torch-2-cuda-steps")
#: torch 2: stacks one line below the other, shapes and FLOPs; the order of the last two is torch's own slip.
TORCH_2_STACKS = _table("torch-2-stacks")
