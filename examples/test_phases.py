"""One training step of LeNet as a data flow: forward, backward and optimizer, what each costs, and a picture of it."""

from collections import Counter

import pytest

one_batch_size = pytest.mark.parametrize("opcost_batch_size", [16], indirect=True)


@one_batch_size
def test_step(opcost, lenet_step):
    opcost.check(lenet_step)


@one_batch_size
def test_phases(opcost, lenet_step):
    profile = opcost.profile(lenet_step)
    costs = cost_by_phase(profile)
    print()
    for phase, cost_us in costs.most_common():
        print(f"{phase:24}{cost_us:10,.0f} us{cost_us / profile.total_us:8.0%}")
    assert costs.keys() >= {"forward", "backward", "optimizer"}
    assert sum(costs.values()) == pytest.approx(profile.total_us)


def cost_by_phase(profile):
    """Microseconds a step by phase. Of an operator the forward part is known; the rest belongs where it was called."""
    costs = Counter()
    for op in profile.ops:
        if op.waits:
            continue
        costs["forward"] += profile.cost_us(op) * op.forward
        later = sorted({place.phase for place in op.facts.places} - {"forward"})
        if op.forward < 1:
            costs[" or ".join(later) or "no phase"] += profile.cost_us(op) * (1 - op.forward)
    return costs


@one_batch_size
def test_picture(opcost, lenet_step, tmp_path):
    """The calls of the step, and which hands its result to which; `-s` tells where the picture is."""
    drawing = pytest.importorskip("pytest_opcost.report.drawing")
    profile = opcost.profile(lenet_step)
    path = tmp_path / "phases.png"
    drawing.phases_figure(profile.flow, profile.total_us).savefig(path)
    print(f"\n{path}")
