"""What passes between workers of pytest-xdist and their controller, and what the controller makes of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from records import CPU, CUDA

from pytest_opcost import workers
from pytest_opcost.controller import Controller
from pytest_opcost.errors import OptionError
from pytest_opcost.workers import WorkerNews

if TYPE_CHECKING:
    from pathlib import Path


def _config(tx: list[str] | None, *, dist: str = "load", worker: bool = False) -> Any:
    options = {"tx": tx, "dist": dist}
    more = {"workerinput": {}, "workeroutput": {}} if worker else {}
    return SimpleNamespace(getoption=lambda name, default=None: options.get(name, default), **more)


def _node(news: WorkerNews | None) -> object:
    """A worker as the controller sees it after its end; one without news has crashed."""
    if news is None:
        return SimpleNamespace()
    config = _config(None, worker=True)
    workers.send(config, news)
    return SimpleNamespace(workeroutput=config.workeroutput)


def test_news_travel_as_plain_data() -> None:
    news = WorkerNews((CPU, CUDA), "sample", 1.5)
    node: Any = _node(news)

    assert workers.news_of(node) == news
    execnet = pytest.importorskip("execnet")
    assert execnet.loads(execnet.dumps(node.workeroutput)) == node.workeroutput


@pytest.mark.parametrize(
    ("tx", "specs", "here"),
    [
        (["popen", "popen"], ["popen", "popen"], True),
        (["2*popen//nice=5", "popen//chdir=/tmp"], ["popen//nice=5", "popen//nice=5", "popen//chdir=/tmp"], True),
        (["3*ssh=host//python=python3"], ["ssh=host//python=python3"] * 3, False),
        (["popen", "socket=10.0.0.2:8888"], ["popen", "socket=10.0.0.2:8888"], False),
        (["popen//python=python3.13"], ["popen//python=python3.13"], False),
        (["popen//env:CUDA_VISIBLE_DEVICES=1"], ["popen//env:CUDA_VISIBLE_DEVICES=1"], False),
        (None, [], True),
    ],
)
def test_where_workers_are(tx: list[str] | None, specs: list[str], here: bool) -> None:
    assert workers.worker_specs(_config(tx)) == specs
    assert workers.all_here(specs) == here


def test_a_run_that_is_not_shared_out_has_no_workers_and_a_worker_has_none() -> None:
    assert workers.worker_specs(_config(["popen"], dist="no")) == []
    assert workers.worker_specs(_config(["popen"], worker=True)) == []


def test_workers_may_not_share_a_device_where_nobody_waits() -> None:
    cards = SimpleNamespace(details=(("gpus", "4"),))

    workers.refuse_to_share(["popen"], ["cpu"], [CPU])
    workers.refuse_to_share(["popen"] * 4, ["cuda"], [cards])  # type: ignore[list-item]
    with pytest.raises(OptionError, match="5 workers of pytest-xdist would measure on cuda at the same time"):
        workers.refuse_to_share(["popen"] * 5, ["cuda"], [cards])  # type: ignore[list-item]
    # All of them would measure on the one that was named.
    with pytest.raises(OptionError, match="would measure on cuda:1"):
        workers.refuse_to_share(["popen"] * 2, ["cuda:1"], [cards])  # type: ignore[list-item]


def test_the_controller_knows_what_its_workers_said(tmp_path: Path) -> None:
    controller = Controller()
    for news in (
        WorkerNews((CPU,), None, 2.0),
        WorkerNews((CPU, CUDA), str(tmp_path), 40.0),
        WorkerNews((), "/no/such/folder/here", 0.0),  # another host's
        None,
    ):
        controller.pytest_testnodedown(_node(news))

    assert list(controller.environments) == [CPU, CUDA]
    assert controller.mnist == str(tmp_path)
    waited = "measurements took turns on their device, and waited 42 s in all for them"
    assert controller.remarks(0.0, recorded=False) == [waited]
    assert controller.remarks(0.0, recorded=True)[1].endswith("-n 0 is quicker, and calmer")
    assert Controller().remarks(0.9, recorded=True) == [], "one process alone"


def test_of_crashed_tests_only_those_that_would_measure_are_told_and_each_once() -> None:
    controller = Controller()
    assert not controller.any_asked
    controller.pytest_runtest_logreport(SimpleNamespace(nodeid="a::b@group", opcost_asked="a::b"))  # type: ignore[arg-type]
    for crashed in ("a::b@group", "a::other", "a::b@group"):
        controller.pytest_handlecrashitem(crashed, None)

    (problem,) = controller.problems()
    assert problem.startswith("a::b: its worker crashed, so it was not judged")
    assert controller.any_asked
