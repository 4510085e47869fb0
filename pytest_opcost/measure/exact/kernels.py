"""Names of device kernels, short enough to read and still told apart."""

from __future__ import annotations

import re

from pytest_opcost.facts import digest

_TEMPLATE = re.compile(r"<[^<>]*>")
_CALL = re.compile(r"\([^()]*\)")
#: What a generic kernel (`vectorized_elementwise_kernel`, `reduce_kernel`, cutlass's `Kernel2`) is an instance for.
_PURPOSE = re.compile(
    r"\b(?:\w*[Ff]unctor\w*|\w+Ops|\w+(?=\(at::TensorIterator)|cutlass_\w+|(?<=std::)(?:plus|minus|multiplies|divides))\b"
)
_LONGEST = 48


def short_kernel(name: str) -> str:
    """A demangled kernel name without return type, namespaces, parameters, and most of its template arguments.

    `void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>(int, ...)` ->
    `vectorized_elementwise_kernel<CUDAFunctor_add>#09c5`. What stands behind `#` is a digest of the full name, so that
    two instances of one template are told apart. Memory transfers (`Memcpy HtoD (Pageable -> Device)`) keep their name.
    """
    if name.startswith(("Memcpy", "Memset")):
        return name
    bare = name.replace("(anonymous namespace)", "")
    for noise in (_TEMPLATE, _CALL):
        # From the inside out: brackets nest.
        while (trimmed := noise.sub("", bare)) != bare:
            bare = trimmed
    words = re.sub(r"\b(const|void|static)\b", " ", bare).split()
    plain = words[0].rsplit("::", 1)[-1][:_LONGEST] if words else "kernel"
    if plain == name:
        return name
    purposes = dict.fromkeys(_PURPOSE.findall(name))
    purpose = f"<{[*purposes][-1][:_LONGEST]}>" if purposes else ""
    return f"{plain}{purpose}#{digest(name, 4)}"
