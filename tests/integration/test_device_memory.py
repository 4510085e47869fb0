"""On a device each test begins with memory of its own, at another place each time; on a CPU nothing of it happens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .project import Project


def test_each_test_on_a_device_begins_anew(project: Project) -> None:
    project.path.joinpath("test_two.py").write_text(
        "import pytest\n\n"
        "@pytest.mark.parametrize('opcost_device', ['cuda:1', 'cpu'], indirect=False)\n"
        "def test_two(opcost, opcost_device): pass\n"
    )
    project.run("--opcost", "--device=cuda")

    assert project.seam.memory == [("cuda", None), ("cuda:1", None)]


def test_a_test_that_measures_nothing_does_not(project: Project) -> None:
    project.path.joinpath("test_unmeasured.py").write_text("def test_unmeasured(): pass\n")
    project.run("--opcost", "--device=cuda", "test_unmeasured.py")

    assert project.seam.memory == []


def test_a_place_is_the_same_in_every_process_and_another_one_for_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from pytest_opcost.measure import device_memory

    asked: list[int] = []
    freed: list[str] = []
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: freed.append("cache"))
    monkeypatch.setattr(device_memory, "_gaps", lambda device: [])
    monkeypatch.setattr(device_memory, "forget_workspaces", freed.append)
    monkeypatch.setattr(torch, "empty", lambda size, **_: asked.append(size))
    for place in ("0 test_a", "0 test_a", "1 test_a", "0 test_b", None, None, None):
        device_memory.fresh_memory("cuda", place)

    pages = [size / device_memory._PAGE for size in asked]
    assert all(page == int(page) and 5 <= page <= 64 for page in pages)
    assert asked[0] == asked[1]
    assert len({*asked[1:4]}) == 3
    assert len({*asked[4:]}) > 1
    assert freed == ["cuda", "cache"] * 7


def test_on_a_cpu_it_is_the_heap_that_begins_elsewhere() -> None:
    pytest.importorskip("torch")
    from pytest_opcost.measure import fresh_memory

    pads = [fresh_memory("cpu", place) for place in ("0 0 test_a", "0 0 test_a", "0 1 test_a", "1 0 test_a")]

    sizes = [pad.nbytes for (pad,) in pads]
    assert sizes[0] == sizes[1]
    assert len({*sizes}) == 3
    assert all(size % 64 == 0 and 0 < size < 4 * 1024 * 1024 for size in sizes)


def test_a_device_that_is_full_is_none_of_its_business(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from pytest_opcost.measure import device_memory

    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(device_memory, "_gaps", lambda device: [512])
    monkeypatch.setattr(torch, "empty", full)
    assert device_memory.fresh_memory("cuda") == []


_MIB = 1024 * 1024
_SMALL = {"device": 0, "stream": 0, "segment_pool_id": (0, 0), "segment_type": "small"}


@pytest.mark.parametrize(
    ("segment", "sizes"),
    [
        ({}, [_MIB, _MIB // 2, 512]),
        ({"segment_type": "large"}, [_MIB * 3 // 2, 512]),
        ({"device": 1}, []),
        ({"stream": 7}, []),
        ({"segment_pool_id": (0, 1)}, []),
    ],
)
def test_gaps_that_small_tensors_would_fill_are_filled(
    monkeypatch: pytest.MonkeyPatch, segment: dict[str, object], sizes: list[int]
) -> None:
    """Each by requests that the allocator serves from its kind of pages; where the test's tensors do not come from,
    none is."""
    torch = pytest.importorskip("torch")
    from pytest_opcost.measure import device_memory

    blocks = [("active_allocated", 4096), ("inactive", 512), ("inactive", _MIB * 3 // 2), ("active_pending_free", 512)]
    pages = {**_SMALL, **segment, "blocks": [{"state": state, "size": size} for state, size in blocks]}
    free = [device_memory._ROOM + _MIB * 3 // 2 + 512]
    monkeypatch.setattr(torch.cuda, "memory_snapshot", lambda: [pages])
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free[0], 0))

    assert device_memory._gaps(torch.device("cuda")) == sizes
    free[0] -= 1
    assert device_memory._gaps(torch.device("cuda")) == []


def test_gaps_that_a_device_does_not_tell_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from pytest_opcost.measure import device_memory

    def unknown() -> None:
        raise RuntimeError("cudaMallocAsync does not yet support snapshot")

    monkeypatch.setattr(torch.cuda, "memory_snapshot", unknown)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    assert device_memory._gaps(torch.device("cuda")) == []
    assert device_memory._gaps(torch.device("mps")) == []
