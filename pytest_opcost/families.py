"""Operator names -> families: an operator's name depends on batch size, backend and version, its family does not.

Patterns are compiled when the first family is asked for: options read this file, and seldom ask.
"""

from __future__ import annotations

import re
from functools import cache

#: The ratio that is judged unless the user declares others: the one that the seeds of this project were about.
DEFAULT_RATIO = "conv/addmm"

#: How autograd's engine calls its own wrapper around each node, before the node's name.
ENGINE_WRAPPER = "autograd::engine::evaluate_function"

#: Rows that are no operators of ATen, told by the whole name; the first match wins.
_OTHER_ROWS: tuple[tuple[str, str], ...] = (
    # The host standing still until the device is done.
    ("wait", r"(cuda|hip|cu|ze|ur)[A-Z]\w*(Synchronize|Wait)"),
    ("runtime", r"(cuda|hip|ze|ur)[A-Z]\w*|cu[A-Z]\w*"),
    # What torch.compile generates: on a GPU a kernel each, on a CPU (where it is asked to) a row each.
    ("fused", r"triton_([a-z_]+_)?fused\w*|(graph_\d+_)?cpp_(fused|Cpp)\w*"),
    # What runs the generated code; on a CPU its time is in the row of the graph.
    ("compiled", r"## Call CompiledFxGraph .*|Torch-Compiled Region.*|CompiledFunction(Backward\d*)?"
                 r"|TorchDynamo Cache Lookup|Pregraph bytecode|AOTDispatcher Runtime Wrapper.*"),
    # A type's name, so Microsoft's compilers put `struct` or `class` before it.
    ("autograd", r"autograd::.*|((struct|class) )?torch::autograd::.*|\w+Backward\d*"),
    ("comm", r"_?c10d\w*::.*|symm_mem::.*|torch::distributed::.*|record_param_comms|(nccl|gloo|mpi|ucc)\W.*"
             r"|all_(reduce|gather|to_all)\w*|reduce_scatter\w*"),
    # torch 1.4 demangled the name `t` as if it were a C++ type's.
    ("view", r"unsigned short"),
)  # fmt: skip

#: The namespaces of torch's own operators: after them the same names mean the same work.
_NAMESPACES = ("aten::", "prims::", "mkldnn::", "mkl::", "onednn::", "quantized::", "torchvision::")

#: Families of operators, the first match wins; each pattern is matched against the whole bare name
#: (`aten::conv2d_` -> `conv2d`) and against its core (`_softmax_backward_data` -> `softmax`).
_OPERATORS: tuple[tuple[str, str], ...] = (
    ("query", r"_nnpack_available|cudnn_is_acceptable|_?is_\w+|_has_\w+|_use_\w+|_fused_sdp_choice|result_type|can_cast"
              r"|promote_types|sym_\w+|size|stride|storage_offset|dim|numel|_nnz|sparse_dim|dense_dim|get_device"
              r"|q_(scale|zero_point|per_channel_\w+)|qscheme|_version|output_nr|_?(functional_)?assert_\w+"
              r"|_nested_tensor_(size|strides|storage_offsets|from_mask_left_aligned)"),
    # Before the families whose names they bear: these only move what belongs to a convolution, a linear layer, a view.
    ("copy", r"\w*reorder_\w+|\w*(conv|linear|embedding)\w*_(pre|un)pack(_\w+)?|unfold_backward"),
    ("conv", r"\w*conv(olution)?(_?[123]d)?(_|$)\w*|\w*convolution\w*|\w*conv_(trans|depth|tbc)\w*"),
    ("rnn", r"(\w+_)?(lstm|gru|rnn)(_\w+)?"),
    ("attention", r"\w*attention\w*|\w*multi_head\w*|_transformer_encoder_layer_fwd|_transform_bias_rescale_qkv"
                  r"|_triton_scaled_dot_attention"),
    ("addmm", r"\w*(addmm|addbmm|baddbmm|addmv|addr)(_activation|_mkl)?"
              r"|_?((int|scaled|grouped|scaled_grouped|sparse|foreach)_)?(mm|bmm|mv)(_v2)?|_weight_int[48]pack_mm\w*"
              r"|(linalg_)?matmul|_?q?linear(_(relu|tanh|leaky_relu|dynamic|fp16|pointwise))*|_?(mkl|mkldnn)_linear\w*"
              r"|_?(bi|tri)linear|fbgemm_linear_(fp16|int8)\w*|_mixed_dtypes_linear|v?dot"
              r"|linalg_(multi_|vec)dot|tensordot|einsum|inner|outer|ger|gemm|chain_matmul"),
    ("pool", r"\w*pool([123]d)?(_|$)\w*|(ps_)?roi_align"),
    ("norm", r"\w*(batch|layer|group|instance|rms|local_response|weight)_?norm\w*|norm|norm_except_dim|renorm"
             r"|linalg_(vector_|matrix_)?norm|frobenius_norm"),
    ("dropout", r"\w*dropout\w*"),
    ("random", r"bernoulli|normal|log_normal|uniform|rand(n|int|perm)?(_like)?|random|exponential|geometric|cauchy"
               r"|poisson|binomial|multinomial\w*|standard_gamma|sample_dirichlet"),
    ("softmax", r"\w*softmax\w*"),
    ("loss", r"(\w+_)?(nll|mse|l1|huber|ctc|margin|embedding|cross_entropy)_loss(2d|_nd)?|margin_ranking_loss"
             r"|binary_cross_entropy(_with_logits)?|kl_div"),
    ("embedding", r"\w*embedding\w*"),
    ("distance", r"cosine_similarity|pairwise_distance|_?euclidean_dist|[cp]?dist"),
    ("foreach", r"_foreach_\w+|_fused_(ada\w+|sgd)|_amp_\w+"),
    ("quantize", r"\w*quantize(_\w+)?|choose_qparams\w*|_?fused_moving_avg_obs_\w+|int_repr"),
    ("copy", r"copy|_to_copy|_(s_)?copy_from\w*|\w+_copy|to|to_cpu|type_as|_cast_[A-Z][a-z]+|clone|contiguous"
             r"|pin_memory|cat|chunk_cat|concat|concatenate|[dhv]?stack|(row|column)_stack|item|_local_scalar_dense"
             r"|[Mm]em(cpy|set)\b.*|im2col|col2im|repeat|tile|to_mkldnn|to_dense|to_sparse\w*|to_padded_tensor"
             r"|(native_)?channel_shuffle|_nested_(from_padded|tensor_from)\w*|pack_padded_sequence"
             r"|pad_(packed_)?sequence"),
    ("view", r"(_unsafe_|neg_)?view|view_as(_real|_complex)?|reshape(_as|_alias)?|(un)?flatten|ravel|t|numpy_T|mT|mH"
             r"|matrix_H|adjoint|(mkldnn_)?transpose|permute|expand|expand_as|broadcast_(to|tensors)|as_strided"
             r"|(un)?squeeze|slice|select|narrow|diagonal|unfold|detach|alias|lift(_fresh)?|data"
             r"|(unsafe_|tensor_|[dhv])?split(_with_sizes)?|(unsafe_)?chunk|unbind|resolve_(conj|neg)|conj|real|imag"
             r"|resize(_as|_output)?|move(dim|axis)|swap(axes|dims)|indices|values|coalesced"),
    ("fill", r"fill|zero"),
    ("allocate", r"empty(_\w+)?|new_(empty|zeros|ones|full)(_strided)?|(zeros|ones|full)(_like)?|arange|range|linspace"
                 r"|logspace|eye|scalar_tensor|set|sparse_(coo|csr|csc|bsr|bsc|compressed)_tensor\w*"),
    ("index", r"(unsafe_)?index(_\w+)?|gather|scatter(_\w+)?|(select|slice)_scatter|(unsafe_)?masked_\w+|where|take"
              r"|take_along_dim|put|nonzero(_\w+)?|(arg|m)?sort|topk|kthvalue|roll|flip(lr|ud)?|one_hot"
              r"|repeat_interleave|unique\w*|searchsorted|bucketize|coalesce|sparse_mask|nms"),
    ("reduce", r"(nan)?(sum|mean|median)|(var|std)(_mean)?|max|min|a(max|min|minmax)|arg(max|min)|prod|logsumexp"
               r"|cum(sum|prod|max|min)|logcumsumexp|all|any|equal|allclose|count_nonzero|trace|bincount|histc"
               r"|sum_to_size|value_selecting_reduction"),
    ("elementwise", r"(add|mul)(_relu|_scalar|_scalar_relu)?|sub|rsub|div|neg|abs|sign|sgn|signbit|square|pow"
                    r"|float_power|exp|exp2|expm1|log|log2|log10|log1p|logaddexp2?|logit|xlogy|sqrt|rsqrt|reciprocal"
                    r"|addcmul|addcdiv|lerp|cross|tril|triu|clamp(_min|_max)?|clip|maximum|minimum|fmax|fmin"
                    r"|absolute|multiply|divide|subtract|negative|positive|relu6?|leaky_relu|prelu(_kernel)?"
                    r"|rrelu(_with_noise)?|(infinitely_differentiable_)?gelu|silu|mish|s?elu|celu|(log_)?sigmoid"
                    r"|tanh|hard(shrink|sigmoid|swish|tanh)|softplus|softshrink|threshold|glu(_jvp|_backward_jvp)?"
                    r"|eq|ne|lt|le|gt|ge|isnan|isinf|isposinf|isneginf|isfinite|isclose|not_equal|less(_equal)?"
                    r"|greater(_equal)?|logical_\w+|bitwise_\w+|__i?(and|or|xor|[lr]shift)_|nan_to_num"
                    r"|(a|arc)?(sin|cos|tan)h?|(arc|a)tan2|hypot|erf|erfc|erfinv|expit|digamma|lgamma|i0|floor|ceil"
                    r"|round|trunc|fix|frac|remainder|fmod|(true|floor)_divide|copysign|conj_physical"),
    ("upsample", r"\w*upsample_\w+|\w*interpolate|\w*grid_sampler\w*|\w*affine_grid_generator|pixel_(un)?shuffle"
                 r"|((constant|reflection|replication)_)?pad([123]d|_nd)?|pad_(circular|enum)"),
)  # fmt: skip

#: What surrounds the name of the work: the old libraries and torch's own marks before it, its direction after it.
_AROUND = r"^(_th_|s_native_|native_|special_|_)|(_(backward|forward)(_data)?)?(_impl|_out)?$"


#: The families' names, in alphabetical order.
FAMILIES = tuple(sorted({family for family, _ in (*_OTHER_ROWS, *_OPERATORS)}))


def _patterns(table: tuple[tuple[str, str], ...]) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((family, re.compile(pattern)) for family, pattern in table)


@cache
def _other_rows() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return _patterns(_OTHER_ROWS)


@cache
def _operators() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return _patterns(_OPERATORS)


def _forms(name: str) -> tuple[str, str]:
    """The bare name and its core (`aten::_softmax_backward_data` -> `_softmax_backward_data`, `softmax`)."""
    namespace = next((one for one in _NAMESPACES if name.startswith(one)), "")
    bare = name.removeprefix(namespace).removesuffix("_")  # writing in place changes no work
    return bare, re.sub(_AROUND, "", bare)


def core_of(name: str) -> str:
    """What an operator does, without what surrounds its name: `aten::relu_` -> `relu`."""
    return _forms(name)[1]


@cache
def family_of(name: str) -> str:
    """The family of an operator (`aten::_slow_conv2d_forward` -> `conv`); one that has none is its own family."""
    for family, pattern in _other_rows():
        if pattern.fullmatch(name):
            return family
    forms = _forms(name)
    for family, pattern in _operators():
        if any(pattern.fullmatch(form) for form in forms):
            return family
    return name


_NODE = r"(\w+?)Backward\d*"


def forward_of(name: str) -> str:
    """The operator that an autograd node is the backward of (`UnsafeViewBackward0` -> `aten::unsafe_view`); other names
    as they are."""
    if (node := re.fullmatch(_NODE, name)) is None:
        return name
    return "aten::" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", node[1]).lower()


def is_side(name: str) -> bool:
    """Whether a ratio may have this side: a family, `total`, or what can be an operator's full name."""
    from pytest_opcost.costs import TOTAL

    return name in (*FAMILIES, TOTAL) or "::" in name or any(one.fullmatch(name) for _, one in _other_rows())


def closest_side(name: str) -> str | None:
    """What was probably meant by a side of a ratio: the family of a bare operator name (`relu`), else what reads alike;
    None where nothing does.
    """
    from difflib import get_close_matches

    from pytest_opcost.costs import TOTAL

    family = family_of(name.lower())
    return family if family in FAMILIES else next(iter(get_close_matches(name.lower(), (*FAMILIES, TOTAL), n=1)), None)
