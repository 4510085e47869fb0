"""Names of device kernels, short enough to read and still told apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pytest_opcost.facts import digest, in_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_opcost.facts import Counts

_TEMPLATE = re.compile(r"<[^<>]*>")
_CALL = re.compile(r"\([^()]*\)")
#: What a generic kernel (`vectorized_elementwise_kernel`, `reduce_kernel`, cutlass's `Kernel2`) is an instance for.
_PURPOSE = re.compile(
    r"\b(?!(?:[AB]?Unary|Binary)Functor|gpu_kernel)"
    r"(?:\w*[Ff]unctor\w*|\w+Ops|\w+(?=\(at::Tensor)|\w+_kernel(?:_impl)?(?=[<(])|cutlass_\d\w+"
    r"|(?<=std::)(?:plus|minus|multiplies|divides))\b"
)
#: Names that tell nothing without the namespace that they are in.
_GENERIC = frozenset({"kernel", "Kernel", "type"})
_LONGEST = 48


def full_names(kernels: Iterable[str]) -> dict[str, str]:
    """The kernels' full names by their short ones, for those whose short name is another."""
    return {short: name for name in kernels if (short := short_kernel(name)) != name}


def short_counts(kernels: Counts) -> Counts:
    """The same counts under short names, and in their order."""
    return in_order((short_kernel(name), count) for name, count in kernels)


def short_kernel(name: str) -> str:
    """A demangled kernel name without return type, namespaces, parameters, and most of its template arguments.

    `void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>(int, ...)` ->
    `vectorized_elementwise_kernel<CUDAFunctor_add>#09c5`. What stands behind `#` is a digest of the full name, so that
    two instances of one template are told apart. Memory transfers (`Memcpy HtoD (Pageable -> Device)`) keep their name.
    """
    if name.startswith(("Memcpy", "Memset")):
        return name
    bare = name
    for noise in (_TEMPLATE, _CALL):
        # From the inside out: brackets nest.
        while (trimmed := noise.sub("", bare)) != bare:
            bare = trimmed
    words = re.sub(r"\b(const|void|static)\b", " ", bare).split()
    # The last word: before it may stand a return type, such as `std::enable_if<...>::type`.
    *spaces, plain = (words[-1] if words else "kernel").split("::")
    plain = "::".join([*spaces[-1:], plain] if plain in _GENERIC else [plain])[:_LONGEST]
    if plain == name:
        return name
    purposes = _PURPOSE.findall(name.partition("<")[2])
    purpose = f"<{purposes[-1][:_LONGEST]}>" if purposes else ""
    return f"{plain}{purpose}#{digest(name, 4)}"
