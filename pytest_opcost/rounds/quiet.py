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
    "pytest-split": {"store_durations": False, "clean_durations": False},
    "pytest-testmon": {
        "testmon": False, "testmon_noselect": False, "testmon_nocollect": False, "testmon_forceselect": False,
    },
}  # fmt: skip
#: Plugins that go altogether, since they run a failed test again; all but the marker that they know.
_REPEATING = ("rerunfailures", "flaky")
_THEIR_MARKER = "flaky: has no meaning here"
#: What selects by pytest's cache and writes to it, and goes. The cache stays: the user's fixtures may keep data there.
_REMEMBERING = ("stepwise", "stepwiseplugin", "lfplugin", "nfplugin")


def quieten(config: pytest.Config) -> None:
    """Switch off in a parsed configuration what must not hold in a round."""
    for dest, value in _OWN.items():
        setattr(config.option, dest, value)
    for plugin, options in _OTHERS.items():
        if config.pluginmanager.has_plugin(plugin):
            for dest, value in options.items():
                setattr(config.option, dest, value)
    if any(map(config.pluginmanager.has_plugin, _REPEATING)):
        _unregister(config, _REPEATING)
        config.addinivalue_line("markers", _THEIR_MARKER)


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
