"""What a test touches: the object behind the `opcost` fixture."""

from __future__ import annotations

from dataclasses import replace
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, TypeVar

from pytest_opcost.errors import OpcostError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_opcost.costs import CostProfile
    from pytest_opcost.results import CheckResult
    from pytest_opcost.seams import Step
    from pytest_opcost.session import Check

T = TypeVar("T")

_WRAPPED = "Expected: a callable that does its work when it is called, such as opcost.check(lambda: model(x))."


class Opcost:
    """Measures and judges steps for one test. `called` tells whether it was ever asked to.

    `drifted` are the drifts of an earlier run of the test that fresh processes confirmed, by their checks' names: a
    test that is run again is not measured until it passes.
    """

    def __init__(
        self, check: Check, report: Callable[[CheckResult], None], drifted: dict[str | None, CheckResult]
    ) -> None:
        #: What each check begins as, before its own name, device and settings.
        self._plain, self._report, self._drifted = check, report, drifted
        self._names: set[str | None] = set()
        self.called = False

    def check(self, step: Step, name: str | None = None, **arguments: object) -> CheckResult:
        """Measure `step` and compare it with the baseline of this test and machine.

        `step` is called without arguments: once cold, 5 times to warm up, then 30 times or more to be measured.
        `name` tells several checks of one test apart. The other arguments are the marker's: `top`, `ratios`,
        `tolerance`, `floor`, `warmup`, `steps`, `on_drift`, `fail_on`; and `device`, for a test that does not use
        `opcost_device`.

        Returns the result: its `profile`, `ratios` and `verdict`. Raises DriftError, an AssertionError, where the step
        drifted; MeasureError, DeviceError, BaselineError or OptionError where it cannot be judged.
        """
        __tracebackhide__ = True
        return _without_our_frames(lambda: self._check(step, name, arguments))

    def profile(self, step: Step, **arguments: object) -> CostProfile:
        """Measure `step` once and return its costs, without any baseline; arguments and errors as for `check`."""
        __tracebackhide__ = True
        return _without_our_frames(lambda: self._profile(step, arguments))

    def _check(self, step: Step, name: str | None, arguments: Mapping[str, object]) -> CheckResult:
        __tracebackhide__ = True
        if name == "":
            raise OptionError(
                f"opcost.check in {self._plain.subject.test}: its name is empty.\n"
                'Expected: a name that tells checks apart, such as opcost.check(step, name="decoder"), or none.'
            )
        if name is not None and not isinstance(name, str):
            raise OptionError(
                f"opcost.check in {self._plain.subject.test}: its second argument is a name, found {_a(name)}: a step "
                f"is called without arguments.\n{_WRAPPED}"
            )
        if name in self._names:
            told = "no name" if name is None else f"the name {name!r}"
            raise OptionError(
                f"{self._plain.subject.test}: a second check with {told} would overwrite the first one's baseline.\n"
                'Expected: a name of its own for each check, such as opcost.check(step, name="decoder").'
            )
        check = self._prepared(step, name, arguments)
        self._names.add(name)
        result = self._drifted.get(name) or check.run(step)
        self._report(result)
        if (failure := check.failure(result)) is not None:
            if check.confirms and result.compared and result.verdict.fails_by_time:
                self._drifted[name] = result
            raise failure
        return result

    def _profile(self, step: Step, arguments: Mapping[str, object]) -> CostProfile:
        __tracebackhide__ = True
        check = self._prepared(step, None, arguments)
        # Also in a round that takes times alone: what the test reads off a profile of its own must be there.
        return replace(check, options=replace(check.options, exact=True)).profile(step)

    def _prepared(self, step: Step, name: str | None, arguments: Mapping[str, object]) -> Check:
        self.called = True
        from pytest_opcost.values import device_name

        subject = self._plain.subject
        where = f"opcost.check in {subject.test}"
        if not callable(step):
            raise OptionError(f"{where}: the step cannot be called, found {_a(step)}.\n{_WRAPPED}")
        if iscoroutinefunction(step):
            raise OptionError(
                f"{where}: the step is a coroutine function, and calling it would run nothing of it.\n"
                "Expected: a callable that does its work when it is called, such as lambda: asyncio.run(step())."
            )
        rest = dict(arguments)
        device = rest.pop("device", None)
        return replace(
            self._plain,
            subject=replace(
                subject,
                check=name,
                device=subject.device if device is None else device_name(f"{where}: device", device),
            ),
            settings=self._plain.settings.updated(rest, where, "name", "device"),
        )


def _without_our_frames(action: Callable[[], T]) -> T:
    """Run `action`; what it raises on purpose points at the user's line, not at ours."""
    __tracebackhide__ = True
    try:
        return action()
    except OpcostError as error:
        raise error.with_traceback(None) from error.__cause__


def _a(thing: object) -> str:
    """A thing by its type alone: a tensor's own words fill a screen."""
    kind = type(thing).__name__
    return "None" if thing is None else f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"
