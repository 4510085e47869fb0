"""An operator's input tensors in words: `f32[16,1,28,28] f32[32,1,3,3] f32[32]`."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from pytest_opcost.facts import digest
from pytest_opcost.measure.compat import input_shapes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from torch import Tensor

#: The profiler's names of element types, and the field's short ones.
_TYPES = {
    "float": "f32", "double": "f64", "c10::Half": "f16", "c10::BFloat16": "bf16",
    "long int": "i64", "long": "i64", "int": "i32", "short": "i16", "short int": "i16", "signed char": "i8",
    "unsigned char": "u8", "bool": "bool", "c10::complex<float>": "c64", "c10::complex<double>": "c128",
}  # fmt: skip
#: Torch's names of element types that are not these; `torch.int64` has its first letter and its digits.
_WHOLE = {"bool": "bool", "bfloat16": "bf16"}
_NO_TENSORS = frozenset({"", "Scalar", "ScalarList"})
_LONGEST_LIST = 4


def inputs_in_words(raw: Any) -> str:
    """The input tensors of a raw event, each as its element type and shape; numbers and other arguments are left out.

    A list of tensors is bracketed, `([3] [4,5])`, since the profiler tells no element types of it; of a long one the
    beginning and a digest of the whole are told.
    """
    return " ".join(
        _tensors(shape) if kind == "TensorList" else f"{_TYPES.get(kind, kind)}{_shape(shape)}"
        for kind, shape in zip(raw.dtypes(), input_shapes(raw))
        if kind not in _NO_TENSORS
    )


def tensors_in_words(tensors: Sequence[Tensor]) -> str:
    """Tensors as `inputs_in_words` tells them; of many the first and their number."""
    told = [f"{_type_of(tensor.dtype)}{_shape([*tensor.shape])}" for tensor in tensors[:_LONGEST_LIST]]
    if len(tensors) <= _LONGEST_LIST:
        return " ".join(told)
    return f"{told[0]} and {len(tensors) - 1} more"


@cache
def _type_of(dtype: torch.dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    return _WHOLE.get(name) or re.sub(r"^([a-z])[a-z]*(?=\d+$)", r"\1", name)


def _shape(sizes: list[int]) -> str:
    return f"[{','.join(map(str, sizes))}]"


def _tensors(shapes: list[Any]) -> str:
    told = [_shape(sizes) if isinstance(sizes, list) else str(sizes) for sizes in shapes]
    if len(told) <= _LONGEST_LIST:
        return f"({' '.join(told)})"
    return f"({' '.join(told[:2])} and {len(told) - 2} more, #{digest(' '.join(told), 4)})"
