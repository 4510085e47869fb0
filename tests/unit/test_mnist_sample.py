from __future__ import annotations

import gzip
import os
from collections import Counter

import pytest

torch = pytest.importorskip("torch")
torchvision = pytest.importorskip("torchvision")

from pytest_opcost.errors import OptionError  # noqa: E402  # only where there are torch and torchvision
from pytest_opcost.workloads.idx import FILE_NAMES  # noqa: E402
from pytest_opcost.workloads.mnist import MnistSource, Origin, find_mnist, lenet5_images, load_mnist  # noqa: E402
from pytest_opcost.workloads.source import SAMPLE_FOLDER  # noqa: E402

SAMPLE = MnistSource(SAMPLE_FOLDER, Origin.SAMPLE)


@pytest.fixture(scope="module")
def mnist():
    return load_mnist(SAMPLE, "cpu")


class TestSample:
    def test_it_is_balanced(self, mnist):
        assert mnist.train_images.shape == (1000, 1, 28, 28)
        assert mnist.test_images.shape == (500, 1, 28, 28)
        assert Counter(mnist.train_labels.tolist()) == dict.fromkeys(range(10), 100)
        assert Counter(mnist.test_labels.tolist()) == dict.fromkeys(range(10), 50)

    def test_it_is_small(self):
        folder = SAMPLE.folder.parent.parent
        assert sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) < 500_000

    def test_it_carries_no_time_of_making(self):
        for name in FILE_NAMES:
            header = (SAMPLE.folder / f"{name}.gz").read_bytes()[:8]
            assert header[4:8] == bytes(4), name

    def test_torchvision_s_own_data_set_reads_it(self, tmp_path):
        (tmp_path / "MNIST" / "raw").mkdir(parents=True)
        for name in FILE_NAMES:
            with SAMPLE.path(name).open("rb") as packed:
                content = gzip.decompress(packed.read())
            (tmp_path / "MNIST" / "raw" / name).write_bytes(content)
        transforms = torchvision.transforms
        theirs = torchvision.datasets.MNIST(
            tmp_path,
            train=False,
            transform=transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))]),
        )
        ours = load_mnist(SAMPLE, "cpu")
        assert len(theirs) == 500
        for place in (0, 250, 499):
            image, label = theirs[place]
            assert torch.equal(image, ours.test_images[place])
            assert label == ours.test_labels[place]

    @pytest.mark.skipif("OPCOST_MNIST" not in os.environ, reason="OPCOST_MNIST names no folder with the whole MNIST")
    def test_it_is_the_first_of_each_digit_of_the_whole(self, tmp_path):
        whole = load_mnist(find_mnist(os.environ["OPCOST_MNIST"], tmp_path), "cpu")
        assert (len(whole.train_images), len(whole.test_images)) == (60_000, 10_000)
        sample = load_mnist(SAMPLE, "cpu")
        for part, limit in (("train", 100), ("test", 50)):
            labels = getattr(whole, f"{part}_labels")
            rows = torch.cat([(labels == digit).nonzero()[:limit, 0] for digit in range(10)]).sort().values
            assert torch.equal(getattr(sample, f"{part}_labels"), labels[rows])
            assert torch.equal(getattr(sample, f"{part}_images"), getattr(whole, f"{part}_images")[rows])


class TestTensors:
    def test_types(self, mnist):
        for part in ("train", "test"):
            assert getattr(mnist, f"{part}_images").dtype is torch.float32
            assert getattr(mnist, f"{part}_labels").dtype is torch.int64

    def test_pixels_are_normalised(self, mnist):
        assert mnist.train_images.min().item() == pytest.approx((0 - 0.1307) / 0.3081)
        assert mnist.train_images.max().item() == pytest.approx((1 - 0.1307) / 0.3081)
        assert mnist.train_images.mean().item() == pytest.approx(0, abs=0.05)
        assert mnist.train_images.std().item() == pytest.approx(1, abs=0.05)

    def test_everything_is_on_the_device_that_was_asked_for(self):
        mnist = load_mnist(SAMPLE, "meta")
        tensors = (mnist.train_images, mnist.train_labels, mnist.test_images, mnist.test_labels, *mnist.batch(3))
        assert {tensor.device.type for tensor in tensors} == {"meta"}

    @pytest.mark.parametrize("size", [1, 16, 64, 1000])
    def test_a_batch_is_the_first_images(self, mnist, size):
        images, labels = mnist.batch(size)
        assert torch.equal(images, mnist.train_images[:size])
        assert torch.equal(labels, mnist.train_labels[:size])

    def test_a_batch_beyond_the_set_starts_again(self, mnist):
        images, labels = mnist.batch(2500)
        assert images.shape == (2500, 1, 28, 28)
        assert images.is_contiguous()
        assert labels.is_contiguous()
        for start in (0, 1000):
            assert torch.equal(images[start : start + 1000], mnist.train_images)
            assert torch.equal(labels[start : start + 1000], mnist.train_labels)
        assert torch.equal(images[2000:], mnist.train_images[:500])

    def test_changing_a_batch_leaves_the_set_alone(self, mnist):
        images, labels = mnist.batch(2)
        images.zero_()
        labels.fill_(-1)
        assert mnist.train_images[:2].any()
        assert (mnist.train_labels[:2] >= 0).all()

    @pytest.mark.parametrize("size", [0, -3])
    def test_a_batch_holds_at_least_one_image(self, mnist, size):
        with pytest.raises(OptionError, match=rf"Found the batch size {size}\. Expected a whole number, 1 or more\."):
            mnist.batch(size)

    def test_lenet5_images(self, mnist):
        grey, _ = mnist.batch(3)
        colour = lenet5_images(grey)
        assert colour.shape == (3, 3, 32, 32)
        assert colour.is_contiguous()
        for channel in range(3):
            assert torch.equal(colour[:, channel, 2:30, 2:30], grey[:, 0])
        border = torch.ones(32, 32, dtype=torch.bool)
        border[2:30, 2:30] = False
        background = mnist.train_images.min()
        assert (colour[:, :, border] == background).all()
