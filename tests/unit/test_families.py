from __future__ import annotations

import pytest

from pytest_opcost.families import family_of, is_memory_bound

FAMILIES = {
    "conv": """
        aten::conv1d aten::conv2d aten::conv3d aten::convolution aten::_convolution aten::convolution_backward
        aten::convolution_overrideable aten::mkldnn_convolution aten::cudnn_convolution aten::miopen_convolution
        aten::_mps_convolution aten::mps_convolution_backward aten::_slow_conv2d_forward aten::_slow_conv2d_backward
        aten::slow_conv_dilated2d aten::slow_conv3d_forward aten::thnn_conv2d aten::_nnpack_spatial_convolution
        aten::_conv_depthwise2d aten::conv_depthwise3d aten::conv_transpose2d aten::cudnn_convolution_transpose
        aten::cudnn_convolution_relu aten::conv_tbc mkldnn::_convolution_pointwise
        cudnn_convolution mkldnn_convolution thnn_conv2d_forward thnn_conv2d_backward conv2d _convolution
        cudnn_convolution_backward cudnn_convolution_backward_input cudnn_convolution_backward_weight
        mkldnn_convolution_backward mkldnn_convolution_backward_weights thnn_conv_depthwise2d_forward
        """,
    "addmm": """
        aten::addmm aten::addmm_ aten::mm aten::bmm aten::baddbmm aten::addbmm aten::addmv aten::addmv_ aten::mv
        aten::matmul aten::linear aten::mkldnn_linear aten::linear_backward aten::_addmm_activation aten::_int_mm
        aten::_scaled_mm aten::_sparse_addmm aten::dot aten::einsum aten::bilinear addmm mm matmul s_native_addmm
        """,
    "pool": """
        aten::max_pool2d aten::max_pool2d_with_indices aten::max_pool2d_with_indices_backward aten::avg_pool2d
        aten::adaptive_avg_pool2d aten::_adaptive_avg_pool2d_backward aten::mkldnn_max_pool2d aten::max_pool1d
        aten::max_unpool2d max_pool2d_with_indices
        """,
    "norm": """
        aten::batch_norm aten::_batch_norm_impl_index aten::native_batch_norm aten::native_batch_norm_backward
        aten::cudnn_batch_norm aten::layer_norm aten::native_layer_norm_backward aten::group_norm aten::rms_norm
        aten::_fused_rms_norm aten::instance_norm aten::norm aten::linalg_vector_norm aten::_batch_norm_with_update
        """,
    "attention": """
        aten::scaled_dot_product_attention aten::_scaled_dot_product_flash_attention_for_cpu
        aten::_efficient_attention_forward aten::_flash_attention_backward aten::_native_multi_head_attention
        """,
    "dropout": "aten::dropout aten::dropout_ aten::native_dropout aten::native_dropout_backward aten::_fused_dropout",
    "random": "aten::bernoulli_ aten::normal_ aten::uniform_ aten::rand aten::randn_like aten::randperm",
    "softmax": """
        aten::softmax aten::_softmax aten::log_softmax aten::_log_softmax aten::_log_softmax_backward_data
        aten::_softmax_backward_data _log_softmax
        """,
    "loss": """
        aten::nll_loss aten::nll_loss_nd aten::nll_loss_forward aten::nll_loss_backward aten::nll_loss2d_forward
        aten::cross_entropy_loss aten::mse_loss aten::mse_loss_backward aten::l1_loss aten::smooth_l1_loss
        aten::binary_cross_entropy_with_logits aten::kl_div aten::_ctc_loss aten::huber_loss nll_loss
        """,
    "embedding": "aten::embedding aten::embedding_dense_backward aten::_embedding_bag",
    "foreach": "aten::_foreach_add_ aten::_foreach_sqrt aten::_foreach_norm aten::_fused_adam_ aten::_fused_sgd_",
    "copy": """
        aten::copy_ aten::_to_copy aten::to aten::clone aten::contiguous aten::cat aten::stack aten::item aten::im2col
        aten::_local_scalar_dense aten::_pin_memory aten::to_mkldnn aten::to_dense
        """,
    "view": """
        aten::view aten::_unsafe_view aten::reshape aten::_reshape_alias aten::flatten aten::t aten::transpose
        aten::permute aten::expand aten::as_strided aten::as_strided_ aten::squeeze aten::unsqueeze aten::slice
        aten::select aten::narrow aten::detach aten::detach_ detach aten::alias aten::split aten::chunk aten::unbind
        aten::resolve_conj aten::resize_ t
        """,
    "fill": "aten::fill_ aten::zero_ aten::fill",
    "query": "aten::_nnpack_available aten::is_pinned aten::_has_compatible_shallow_copy_type aten::result_type",
    "allocate": """
        aten::empty aten::empty_like aten::empty_strided aten::new_empty aten::zeros aten::zeros_like aten::ones_like
        aten::full aten::arange aten::scalar_tensor aten::set_ empty
        """,
    "index": """
        aten::index aten::index_select aten::index_put_ aten::gather aten::gather_backward aten::scatter_
        aten::scatter_add_ aten::masked_fill_ aten::where aten::topk aten::sort aten::nonzero aten::one_hot
        """,
    "reduce": """
        aten::sum aten::mean aten::var aten::var_mean aten::max aten::amax aten::argmax aten::cumsum aten::any
        aten::logsumexp
        """,
    "elementwise": """
        aten::add aten::add_ aten::sub aten::mul aten::mul_ aten::div_ aten::neg aten::pow aten::exp aten::log
        aten::sqrt_ aten::rsqrt aten::addcmul_ aten::addcdiv_ aten::lerp_ aten::relu aten::relu_
        aten::threshold_backward aten::gelu aten::gelu_backward aten::silu_ aten::silu_backward aten::tanh_backward
        aten::sigmoid_backward aten::hardtanh_backward aten::clamp_min aten::clamp_min_ aten::eq aten::logical_and
        aten::leaky_relu_backward add add_ prims::mul
        """,
    "upsample": "aten::upsample_nearest2d aten::upsample_bilinear2d_backward aten::constant_pad_nd aten::pad",
    "comm": """
        nccl:all_reduce nccl:broadcast gloo:all_reduce c10d::allreduce_ c10d::_allgather_base_ c10d::broadcast_
        c10d::reduce_scatter_
        """,
    "autograd": """
        AddmmBackward0 MkldnnConvolutionBackward CudnnConvolutionBackward MaxPool2DWithIndicesBackward0
        MyFunctionBackward torch::autograd::AccumulateGrad torch::autograd::CopyBackwards TBackward0
        """,
    "runtime": """
        cudaLaunchKernel cudaMemcpyAsync cudaStreamSynchronize cudaFuncGetAttributes cuLaunchKernel cuLaunchKernelEx
        hipLaunchKernel hipMemcpyAsync zeCommandListAppendLaunchKernel
        """,
}


@pytest.mark.parametrize(
    ("name", "family"), [(name, family) for family, names in FAMILIES.items() for name in names.split()]
)
def test_family(name, family):
    assert family_of(name) == family


@pytest.mark.parametrize(
    "node", ["ConvolutionBackward0", "AddmmBackward0", "torch::autograd::AccumulateGrad", "NllLossBackward0"]
)
def test_the_engine_s_wrappers_are_autograd(node):
    assert family_of(f"autograd::engine::evaluate_function: {node}") == "autograd"


@pytest.mark.parametrize(
    "name",
    ["aten::_thnn_fused_lstm_cell", "aten::lstm", "aten::fft_fft", "aten::linalg_svd", "made_up", "aten::made_up"],
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
        "linear_thing",
        "additive",
        "maximal",
        "view_finder",
        "tolerance",
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


@pytest.mark.parametrize("name", ["aten::add", "aten::mul_", "aten::copy_", "aten::fill_", "aten::sum", "aten::relu"])
def test_what_streams_through_memory_is_memory_bound(name):
    assert is_memory_bound(name)


@pytest.mark.parametrize(
    "name", ["aten::sqrt_", "aten::exp", "aten::gelu_backward", "aten::mm", "aten::conv2d", "my::op"]
)
def test_what_computes_is_not(name):
    assert not is_memory_bound(name)
