from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_opcost import families
from pytest_opcost.families import core_of, family_of, forward_of


def _operators() -> dict[str, list[str]]:
    """The names in `operators.txt` by family."""
    lines = (Path(__file__).parent / "operators.txt").read_text(encoding="utf-8").splitlines()
    blocks = re.split(r"(?m)^(\w+):$", "\n".join(line for line in lines if not line.startswith("#")))
    return {family: names.split() for family, names in zip(blocks[1::2], blocks[2::2])}


OPERATORS = _operators()


@pytest.mark.parametrize("family", OPERATORS)
def test_family(family):
    names = OPERATORS[family]
    assert {name: family_of(name) for name in names} == dict.fromkeys(names, family)


def test_no_family_of_the_tables_is_without_an_operator():
    assert {family for family, _ in (*families._OTHER_ROWS, *families._OPERATORS)} == set(OPERATORS)


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("## Call CompiledFxGraph fv6gmmpthn3zg6pxsrax23weftdhesvjidqkylfp2h52lj3yjpee ##", "compiled"),
        ("Torch-Compiled Region: 0/0", "compiled"),
        ("Torch-Compiled Region: 2/1", "compiled"),
        ("TorchDynamo Cache Lookup", "compiled"),
        ("Pregraph bytecode", "compiled"),
        ("AOTDispatcher Runtime Wrapper Prologue", "compiled"),
        ("class torch::autograd::CopyBackwards", "autograd"),
        ("struct torch::autograd::AccumulateGrad", "autograd"),
        ("unsigned short", "view"),
    ],
)
def test_names_that_are_no_single_word(name, family):
    assert family_of(name) == family


@pytest.mark.parametrize(
    "node", ["ConvolutionBackward0", "AddmmBackward0", "torch::autograd::AccumulateGrad", "NllLossBackward0"]
)
def test_the_engine_s_wrappers_are_autograd(node):
    assert family_of(f"autograd::engine::evaluate_function: {node}") == "autograd"


@pytest.mark.parametrize(
    "name",
    ["aten::fft_fft", "aten::linalg_svd", "aten::stft", "prims::made_up", "made_up", "aten::made_up"],
)
def test_an_operator_without_a_family_is_its_own(name):
    assert family_of(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "my::linear_thing",
        "my::conv2d",
        "my::addmm",
        "mylib::attention_block",
        "my::add_",
        "my::cudaThing",
        "my::MyBackward",
        "my::all_reduce",
        "mylib::normalize",
        "mylib::lstm",
        "mylib::conv2d_prepack",
        "mylib::quantize",
        "mylib::triton_poi_fused_add_0",
        "mylib::Torch-Compiled Region",
        "my_aten::add",
        "triton_kernel_0",
        "CompiledFunctionality",
        "linear_thing",
        "additive",
        "maximal",
        "view_finder",
        "tolerance",
        "fully_connected",
        "splitter",
        "level1",
        "notepad",
        "random_thing",
        "relu_thing",
        "rearrange",
    ],
)
def test_a_user_s_own_operator_is_its_own_family(name):
    assert family_of(name) == name


def test_a_family_does_not_depend_on_the_backend_or_on_writing_in_place():
    assert len({family_of(f"aten::{name}") for name in ("cudnn_convolution", "mkldnn_convolution", "conv2d")}) == 1
    assert family_of("aten::relu_") == family_of("aten::relu")


@pytest.mark.parametrize("name", ["aten::scatter_reduce", "aten::scatter_reduce_"])
def test_an_index_operation_is_no_communication(name):
    assert family_of(name) == "index"


@pytest.mark.parametrize("name", ["_c10d_functional::all_reduce", "_c10d_functional::all_gather_into_tensor"])
def test_functional_collectives_are_communication(name):
    assert family_of(name) == "comm"


def test_asking_for_an_attention_kernel_is_no_optimizer_step():
    assert family_of("aten::_fused_sdp_choice") != "foreach"


@pytest.mark.parametrize("name", ["aten::cosine_embedding_loss", "aten::hinge_embedding_loss"])
def test_a_loss_on_embeddings_is_a_loss(name):
    assert family_of(name) == "loss"


@pytest.mark.parametrize("name", ["mkldnn::_linear_pointwise", "aten::mkldnn_linear_backward_weights"])
def test_other_spellings_of_a_linear_layer_are_addmm(name):
    assert family_of(name) == "addmm"


@pytest.mark.parametrize(
    ("node", "operator"),
    [
        ("UnsafeViewBackward0", "aten::unsafe_view"),
        ("TBackward0", "aten::t"),
        ("NativeLayerNormBackward0", "aten::native_layer_norm"),
        ("torch::autograd::AccumulateGrad", "torch::autograd::AccumulateGrad"),
        ("aten::convolution_backward", "aten::convolution_backward"),
    ],
)
def test_the_operator_of_an_autograd_node(node, operator):
    assert forward_of(node) == operator


@pytest.mark.parametrize(
    ("name", "core"), [("aten::relu_", "relu"), ("aten::_softmax_backward_data", "softmax"), ("aten::relu", "relu")]
)
def test_the_core_of_a_name(name, core):
    assert core_of(name) == core
