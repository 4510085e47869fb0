"""The seam under which torch and other processes live: what measures, here or there, and what devices there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_opcost.check_options import CheckOptions
    from pytest_opcost.costs import CostProfile, Environment
    from pytest_opcost.options import Options
    from pytest_opcost.session import Check

    Step: TypeAlias = Callable[[], object]


def measure_step(step: Step, options: Options, check: CheckOptions, device: str) -> CostProfile:
    """Measure a step on the named device."""
    __tracebackhide__ = True
    from pytest_opcost.measure import Plan, measure

    wanted = options.html is not None  # for the page's traces
    plan = Plan(
        device,
        check.warmup,
        check.steps,
        options.threads,
        options.quiet,
        options.exact,
        timeline=wanted,
        partner=options.partner,
    )
    return measure(step, plan if options.repetition is None else plan.repeated(options.repetition))


def fresh_profile(check: Check, step: Step) -> CostProfile:
    """The step of a check measured in a fresh process, which re-runs the test: times alone."""
    return check.fresh.one(check.subject.test, check.subject.check)


def recorded_rounds(check: Check, step: Step) -> list[CostProfile]:
    """The rounds that a new baseline of a check is made of, each in a fresh process: times alone."""
    return check.fresh.together(check.subject.test, check.subject.check, check.options.rounds)


def begin_memory(device: str, place: str | None) -> object:
    """Fresh memory of the device for the test that begins: what is returned is to be kept until it has ended."""
    from pytest_opcost.measure import fresh_memory

    return fresh_memory(device, place)


def find_environments(options: Options) -> list[Environment]:
    """The environment of each device that was asked for; raises DeviceError for one that is not there."""
    from pytest_opcost.measure import environments_of

    return environments_of(options.devices, options.threads, quiet=options.quiet)
