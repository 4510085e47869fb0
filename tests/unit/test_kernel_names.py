"""Names of device kernels as CUDA, cuDNN, cuBLAS and Triton give them: short, and still told apart."""

from __future__ import annotations

import hashlib
from itertools import combinations

import pytest

pytest.importorskip("torch")  # its package imports torch

from pytest_opcost.measure.exact.kernels import full_names, short_counts, short_kernel

_NATIVE, _ANON = "at::native::", "at::native::(anonymous namespace)::"
_ITERATOR = "(at::TensorIteratorBase&)"
_ARRAY = "std::array<char*, 2ul>"
_SUM = "func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)"
_LAMBDA = "::{lambda()#3}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}"
_CLAMP = "launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)"


def kernel(template, arguments, *parameters):
    return f"void {template}<{arguments}>({', '.join(parameters)})"


def elementwise(functor, template="vectorized_elementwise_kernel"):
    return kernel(f"{_NATIVE}{template}", f"4, {functor}, {_ARRAY} ", "int", functor, _ARRAY)


def cutlass(tile):
    return kernel("cutlass::Kernel2", f"cutlass_80_simt_sgemm_{tile}", f"cutlass_80_simt_sgemm_{tile}::Params")


def multi_tensor(*arguments):
    inside = ", ".join((f"{_ANON}TensorListMetadata<2>", *arguments))
    return kernel(f"{_ANON}multi_tensor_apply_kernel", inside, inside)


KERNELS = {
    elementwise(f"{_NATIVE}CUDAFunctor_add<float>"): "vectorized_elementwise_kernel<CUDAFunctor_add>#",
    elementwise(f"{_NATIVE}CUDAFunctor_add<c10::Half>"): "vectorized_elementwise_kernel<CUDAFunctor_add>#",
    elementwise(f"{_NATIVE}sqrt_kernel_cuda{_ITERATOR}{_LAMBDA}"): "vectorized_elementwise_kernel<sqrt_kernel_cuda>#",
    elementwise(f"{_ANON}{_CLAMP}{_LAMBDA}"): "vectorized_elementwise_kernel<launch_clamp_scalar>#",
    elementwise(f"{_NATIVE}direct_copy_kernel_cuda{_ITERATOR}{_LAMBDA}", "unrolled_elementwise_kernel"): (
        "unrolled_elementwise_kernel<direct_copy_kernel_cuda>#"
    ),
    kernel(
        f"{_NATIVE}reduce_kernel",
        f"512, 1, {_NATIVE}ReduceOp<float, {_NATIVE}{_SUM}::{{lambda(float, float)#1}}>, unsigned int, float, 4> ",
        f"{_NATIVE}ReduceOp<float, {_NATIVE}{_SUM}::{{lambda(float, float)#1}}>, unsigned int, float, 4>",
    ): "reduce_kernel<sum_functor>#",
    kernel(
        f"{_NATIVE}reduce_kernel",
        f"512, 1, {_NATIVE}ReduceOp<float, {_NATIVE}MeanOps<float, float>, unsigned int, float, 4> ",
        f"{_NATIVE}ReduceOp<float, {_NATIVE}MeanOps<float, float>, unsigned int, float, 4>",
    ): "reduce_kernel<MeanOps>#",
    cutlass("128x64_8x5_nn_align1"): "Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>#",
    cutlass("128x64_8x5_tn_align1"): "Kernel2<cutlass_80_simt_sgemm_128x64_8x5_tn_align1>#",
    "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x32x16_stage4_kernel_cudnn": (
        "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf#"
    ),
    "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x64x16_stage4_kernel_cudnn": (
        "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf#"
    ),
    kernel(
        "cudnn::ops::nchwToNhwcKernel",
        "float, float, float, false, true, (cudnnKernelDataType_t)2",
        "cudnn::ops::nchw2nhwc_params_t<float>, float const*, float*",
    ): "nchwToNhwcKernel#",
    multi_tensor(f"{_ANON}BinaryOpListAlphaFunctor<float, 2, 2, 0>", "std::plus<float>", "float"): (
        "multi_tensor_apply_kernel<plus>#"
    ),
    multi_tensor(f"{_ANON}UnaryOpFunctor<float, 2, 1, 1>", f"{_NATIVE}Sqrt<float> "): (
        "multi_tensor_apply_kernel<UnaryOpFunctor>#"
    ),
    "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, float, 6, false>(int, float const*)": (
        "gemvx::kernel#"
    ),
    elementwise(f"{_ANON}masked_scale_kernel<bool, float, float>(at::Tensor&, at::Tensor const&, float){_LAMBDA}"): (
        "vectorized_elementwise_kernel<masked_scale_kernel>#"
    ),
    f"void {_ANON}max_pool_forward_nchw<float, int>(int, float const*, long, long*)": "max_pool_forward_nchw#",
    "void (anonymous namespace)::softmax_warp_forward<float, float, 4, true>(float*, int)": "softmax_warp_forward#",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)": (
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL#"
    ),
}
AS_THEY_ARE = (
    *("Memcpy HtoD (Pageable -> Device)", "Memcpy DtoD (Device -> Device)", "Memset (Device)"),
    *("triton_poi_fused_relu_threshold_backward_0", "ampere_sgemm_32x128_tn", "nvjet_tst_64x8_64x16_4x1_v_bz_TNT"),
)


@pytest.mark.parametrize(("name", "short"), KERNELS.items(), ids=[short.strip("#") for short in KERNELS.values()])
def test_a_kernel_is_called_by_its_template_and_what_it_is_an_instance_for(name, short):
    told, _, digest = short_kernel(name).partition("#")
    assert f"{told}#" == short
    assert len(digest) == 4


@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_a_plain_name_stays(name):
    assert short_kernel(name) == name


def test_all_are_short_and_told_apart():
    shorts = [short_kernel(name) for name in (*KERNELS, *AS_THEY_ARE)]
    assert max(map(len, shorts)) <= 80
    assert all(one != other for one, other in combinations(shorts, 2))


@pytest.mark.parametrize(
    "name", ["_ZN2at6native29kernelILi4ENS0_15CUDAFunctor_addIfEE" + "x" * 300, "x" * 300, "a::" * 99]
)
def test_even_a_name_that_is_not_demangled_is_short(name):
    assert len(short_kernel(name)) <= 110


@pytest.mark.parametrize("name", ["", "()", "<", "void ", "{lambda()#1}", "a<b", "f(int"])
def test_an_odd_name_is_some_name(name):
    assert short_kernel(name).strip()


def test_the_digest_is_that_of_the_full_name():
    name = "void my::kernel<(my::Mode)1>(float*)"
    assert short_kernel(name) == f"my::kernel#{hashlib.sha256(name.encode()).hexdigest()[:4]}"


def test_kernels_are_in_the_order_of_their_short_names_as_a_baseline_reads_them():
    full = {"void b::zeta<int>()": 2, "void c::alpha<int>()": 2, "void a::mid<int>()": 1}
    names = full_names(full)
    short = short_counts(tuple(full.items()))
    assert [name.partition("#")[0] for name, _ in short] == ["alpha", "zeta", "mid"]
    assert {names[name]: count for name, count in short} == full
