"""Operator names -> families: an operator's name depends on batch size, backend and version, its family does not."""

from __future__ import annotations

import re
from functools import cache

#: The ratio that is judged unless the user declares others: the one that the seeds of this project were about.
DEFAULT_RATIO = "conv/addmm"

#: The families, the first match wins; each pattern is matched against the whole bare name (`aten::conv2d` -> `conv2d`).
_FAMILIES: tuple[tuple[str, str], ...] = (
    ("runtime", r"(cuda|hip|ze)[A-Z]\w*|cu[A-Z]\w*"),
    ("autograd", r"autograd::.*|torch::autograd::.*|\w+Backward\d*"),
    ("comm", r"_?c10d\w*::.*|(nccl|gloo|mpi|ucc)\W.*|all_(reduce|gather|to_all)\w*|reduce_scatter\w*"),
    ("query", r"_nnpack_available|is_\w+|_has_\w+|result_type|can_cast|sym_\w+|_is_\w+|_fused_sdp_choice"),
    ("conv", r"\w*conv(olution)?(_?[123]d)?(_|$)\w*|\w*convolution\w*|\w*conv_(trans|depth|tbc)\w*"),
    ("attention", r"\w*attention\w*|\w*multi_head\w*"),
    ("addmm", r"_?(sparse_)?\w*(addmm|addbmm|baddbmm|addmv|addr)(_activation)?|_?(int_|scaled_|grouped_)?(mm|bmm|mv)"
              r"|matmul|linear|mkldnn_linear\w*|_linear_pointwise\w*|bilinear|dot|vdot|einsum|inner|outer|ger|gemm|chain_matmul"),
    ("pool", r"\w*pool([123]d)?(_|$)\w*"),
    ("norm", r"\w*(batch|layer|group|instance|rms|local_response)_?norm\w*|norm|linalg_vector_norm"),
    ("dropout", r"\w*dropout\w*"),
    ("random", r"bernoulli|normal|uniform|rand\w*|exponential|multinomial|random"),
    ("softmax", r"\w*softmax\w*"),
    ("loss", r"\w*(nll|cross_entropy|mse|l1|smooth_l1|huber|bce|kl_div|binary_cross_entropy|ctc|margin)_?(loss)?\w*"
             r"|\w*embedding_loss"),
    ("embedding", r"\w*embedding\w*"),
    ("foreach", r"_foreach_\w+|_fused_\w+|_amp_\w+"),
    ("copy", r"copy|_to_copy|to|clone|contiguous|cat|stack|_cat|_copy_from|item|_local_scalar_dense|mem(cpy|set)\b.*"
             r"|im2col|col2im|index_copy|repeat|pin_memory|_pin_memory|lift_fresh|mkldnn_reorder\w*|to_mkldnn\w*"
             r"|to_dense\w*"),
    ("view", r"view|_unsafe_view|reshape|_reshape_alias|flatten|unflatten|t|transpose|permute|expand|expand_as"
             r"|as_strided|squeeze|unsqueeze|slice|select|narrow|detach|alias|split\w*|chunk|unbind|resolve_\w+|resize|movedim|swapaxes|numpy_T|diagonal"),
    ("fill", r"fill|zero"),
    ("allocate", r"empty\w*|new_\w+|zeros\w*|ones\w*|full\w*|arange|scalar_tensor|set"),
    ("index", r"index\w*|gather|scatter\w*|masked_\w+|where|take\w*|nonzero|sort|topk|argsort|roll|flip|one_hot"),
    ("reduce", r"sum|mean|var|std|var_mean|std_mean|max|min|amax|amin|argmax|argmin|prod|logsumexp|cumsum|all|any"
               r"|count_nonzero"),
    ("elementwise", r"add|sub|rsub|mul|div|neg|pow|exp|exp2|log|log2|log1p|expm1|sqrt|rsqrt|reciprocal|abs|sign"
                    r"|square|addcmul|addcdiv|lerp|relu\w*|leaky_relu|gelu\w*|silu\w*|mish|elu|selu|celu|tanh\w*"
                    r"|sigmoid\w*|hard\w+|softplus\w*|threshold\w*|clamp\w*|maximum|minimum|eq|ne|lt|le|gt|ge"
                    r"|logical_\w+|bitwise_\w+|sin|cos|erf|floor|ceil|round"
                    r"|trunc|frac|remainder|fmod|true_divide|floor_divide|isnan|isinf|isfinite|glu\w*|prelu\w*|native_gelu"),
    ("upsample", r"\w*upsample\w*|\w*interpolate\w*|grid_sampler\w*|pixel_shuffle|\w*pad([123]d|_nd)?|pad"),
)  # fmt: skip
_COMPILED = tuple((family, re.compile(pattern)) for family, pattern in _FAMILIES)


@cache
def family_of(name: str) -> str:
    """The family of an operator (`aten::_slow_conv2d_forward` -> `conv`); one that has none is its own family."""
    bare = name.split("::", 1)[1] if name.startswith(("aten::", "prims::", "mkldnn::", "torchvision::")) else name
    plain = bare.removesuffix("_")
    forms = (plain, re.sub(r"_(backward|forward)(_data|_out)?$", "", plain))
    for family, pattern in _COMPILED:
        if any(pattern.fullmatch(form) for form in forms):
            return family
    return name


#: Families that read and write far more than they compute; their cost on a CPU is that of the memory.
_STREAMING = frozenset({"elementwise", "copy", "fill", "reduce", "foreach", "index", "allocate", "view"})
#: Element-wise operators that compute for as long as they wait for memory, or longer.
_COMPUTING = re.compile(r"sqrt|rsqrt|pow|exp\w*|log\w*|tanh\w*|sigmoid\w*|gelu\w*|silu\w*|mish|erf|sin|cos|softplus\w*")


@cache
def is_memory_bound(name: str) -> bool:
    """Whether an operator's cost on a CPU is mostly that of the memory that it streams through."""
    bare = name.split("::", 1)[-1].removesuffix("_")
    return family_of(name) in _STREAMING and not _COMPUTING.fullmatch(bare)
