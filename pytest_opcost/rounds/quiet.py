"""What of the user's options must not hold in a round: what stops early, repeats, or writes reports.

What selects and orders tests needs no mention: `child` has the last word on it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pytest

#: pytest's own options by dest: every test runs to its end, and nothing is written.
_OWN: Mapping[str, object] = {
    "pyargs": False,
    "maxfail": 0,
    "continue_on_collection_errors": True,
    "collectonly": False,
    "setuponly": False,
    "setupplan": False,
    "usepdb": False,
    "trace": False,
    "cacheclear": False,
    "xmlpath": None,
    "log_file": os.devnull,
    "pastebin": None,
    "debug": None,
    # A failure is told by its end.
    "tbstyle": "short",
    "fulltrace": False,
    "showlocals": False,
    "color": "no",
}
#: The same for other plugins, by the names under which they register. They stay, for the sake of their fixtures.
_OTHERS: Mapping[str, Mapping[str, object]] = {
    "xdist": {
        "numprocesses": None, "maxprocesses": None, "dist": "no", "distload": False, "tx": [], "looponfail": False,
    },
    "pytest_cov": {"cov_source": None},
    "html": {"htmlpath": None},
    "pytest_jsonreport": {"json_report": False, "json_report_file": "none"},
    "pytest_reportlog": {"report_log": None},
    "allure_pytest": {"allure_report_dir": None, "clean_alluredir": False},
    "benchmark": {
        "benchmark_save": None, "benchmark_autosave": None, "benchmark_json": None, "benchmark_compare": None,
        "benchmark_compare_fail": None, "benchmark_histogram": None,
    },
    "syrupy": {"update_snapshots": False, "update_new_snapshots_only": False, "disable_unused_snapshots": True},
    "inline_snapshot": {"inline_snapshot": "disable"},
    "pytest_torch": {
        "torch_update_golden": False, "torch_update_perf": False, "torch_update_metrics": False,
        "torch_benchmark_json": None, "torch_failure_artifacts": None, "torch_github_annotations": False,
        "torch_repro_dir": None,
    },
    "codspeed": {"codspeed": False},
    "pytest-split": {"store_durations": False, "clean_durations": False},
    "pytest-testmon": {
        "testmon": False, "testmon_noselect": False, "testmon_nocollect": False, "testmon_forceselect": False,
    },
}  # fmt: skip
#: Plugins that go altogether, since they run a test again; all but the markers that they know.
_REPEATING = ("rerunfailures", "pytest_rerunfailures", "flaky", "repeat", "pytest_repeat")
_THEIR_MARKERS = ("flaky: has no meaning here", "repeat(n): has no meaning here")
#: What selects by pytest's cache and writes to it, and goes. The cache stays: the user's fixtures may keep data there.
_REMEMBERING = ("stepwise", "stepwiseplugin", "lfplugin", "nfplugin")


def quieten(config: pytest.Config, folder: str) -> None:
    """Switch off in a parsed configuration what must not hold in a round; what is written all the same, in `folder`."""
    config.option.basetemp = os.path.join(folder, "temp")
    for dest, value in _OWN.items():
        setattr(config.option, dest, value)
    for plugin, options in _OTHERS.items():
        if config.pluginmanager.has_plugin(plugin):
            for dest, value in options.items():
                setattr(config.option, dest, value)
    if config.pluginmanager.has_plugin("playwright"):
        config.option.output = os.path.join(folder, "artifacts")  # it empties the run's own at its start
    if any(map(config.pluginmanager.has_plugin, _REPEATING)):
        _unregister(config, _REPEATING)
        for marker in _THEIR_MARKERS:
            config.addinivalue_line("markers", marker)


def leave_cache_alone(config: pytest.Config) -> None:
    """Let nothing of pytest's own write to the cache; to be called once the configuration is complete."""
    _unregister(config, _REMEMBERING)


def quieten_early(config: pytest.Config) -> None:
    """The same for what begins before options are parsed for good: capturing, and pytest-cov."""
    config.known_args_namespace.capture = "no"  # the last words of a process that dies must not die with it
    if config.pluginmanager.has_plugin("pytest_cov"):
        config.known_args_namespace.cov_source = []


def _unregister(config: pytest.Config, names: tuple[str, ...]) -> None:
    for name in names:
        if config.pluginmanager.has_plugin(name):
            config.pluginmanager.unregister(name=name)
