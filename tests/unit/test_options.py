from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace

import pytest

from pytest_opcost.check_options import CheckOptions
from pytest_opcost.declared import add_device_alias, add_options
from pytest_opcost.errors import OptionError
from pytest_opcost.options import (
    AS_ASKED,
    Missing,
    Update,
    paths_below,
    read_options,
)
from pytest_opcost.plugin import ALL_DECLARED, add_flags

ROOT = Path("/project")


class Parser:
    """pytest's parser, as far as the options use it: argparse for the command line, a table for the ini file."""

    def __init__(self):
        self.argparse = argparse.ArgumentParser(exit_on_error=False)
        self.addoption = self.argparse.add_argument
        self.inis = {}

    def getgroup(self, *_):
        return self

    def addini(self, name, help, type, default):  # pytest's own name
        self.inis[name] = type

    def parse_known_and_unknown_args(self, args):
        return self.argparse.parse_known_args(args)


class Config:
    def __init__(self, args=(), ini=()):
        self.parser = Parser()
        add_flags(self.parser)
        add_options(self.parser)
        add_device_alias(self.parser)
        self.given, self.ini = self.parser.argparse.parse_args(args), dict(ini)
        self.invocation_params = SimpleNamespace(args=args)
        self.rootpath, self.inipath, self.stash = ROOT, ROOT / "tox.ini", pytest.Stash()
        self.stash[ALL_DECLARED] = True
        assert self.ini.keys() <= self.parser.inis.keys()

    def getoption(self, dest, *default):
        return getattr(self.given, dest, *default)

    def getini(self, name):
        kind = self.parser.inis[name]  # an ini value that was never declared is a KeyError
        value = self.ini.get(name)
        if value is None:
            return None
        return value == "true" if kind == "bool" else value.split("\n") if kind == "linelist" else value


def read(*args, ini=(), environ=()):
    return read_options(Config(args, ini), dict(environ))


def refused(*args, **more):
    with pytest.raises(OptionError) as caught:
        read(*args, **more)
    return str(caught.value)


@pytest.mark.parametrize("option", ["--opcost-base=HEAD", "--opcost-base-python=other/python"])
def test_a_base_switches_opcost_on_but_in_the_ini_file(option):
    assert read(option).enabled
    assert not read(ini={option[2:].partition("=")[0].replace("-", "_"): option.partition("=")[2]}).enabled
    assert not read("--opcost-confirm=4").enabled


def test_defaults():
    options = read()
    assert (options.enabled, options.update, options.prune, options.missing) == (
        False,
        Update.NONE,
        False,
        Missing.RECORD,
    )
    assert (options.devices, options.batch_sizes) == (("cpu",), (1, 16, 64))
    assert (options.root, options.baselines, options.json, options.mnist) == (ROOT, ROOT / "baselines", None, None)
    assert (options.threads, options.quiet, options.rounds, options.confirm) == (1, True, 5, 12)
    assert options.check == CheckOptions(10, (("conv/addmm", None),), None, None, 5, None, "fail", "dearer")


#: Every option with a value that is not the default: name, text, field (of the options or their `check`), value.
VALUES = [
    ("device", "cuda:1", "devices", ("cuda:1",)),
    ("batch-size", "2,8", "batch_sizes", (2, 8)),
    ("baselines", "costs", "baselines", ROOT / "costs"),
    ("missing", "report", "missing", Missing.REPORT),
    ("mnist", "data/mnist", "mnist", "data/mnist"),
    ("threads", "3", "threads", 3),
    ("allocator", "system", "quiet", False),
    ("warmup", "0", "warmup", 0),
    ("steps", "7", "steps", 7),
    ("rounds", "2", "rounds", 2),
    ("confirm", "0", "confirm", 0),
    ("turns", "refuse", "turns_wait", False),
    ("top", "3", "top", 3),
    ("tolerance", "0.5", "tolerance", 0.5),
    ("floor", "2.5", "floor", 2.5),
    ("ratio", "copy/total=0.3", "ratios", (("conv/addmm", None), ("copy/total", 0.3))),
    ("on-drift", "report", "on_drift", "report"),
    ("fail-on", "drift", "fail_on", "drift"),
    ("base", "origin/main", "base", "origin/main"),
    ("base-python", "other/bin/python", "base_python", Path("other/bin/python")),
    ("epochs", "3", "epochs", 3),
    ("html", "page", "html", Path("page")),
    ("markdown", "report.md", "markdown", Path("report.md")),
    ("tensorboard", "runs", "tensorboard", Path("runs")),
    ("json", "out.json", "json", Path("out.json")),
    ("export", "csv:costs.csv", "exports", (("csv", Path("costs.csv")),)),
]
FLAGS = ["opcost", "opcost-add-rounds", "opcost-update-baselines", "opcost-update-missing", "opcost-prune-baselines"]


def field_of(options, field):
    return getattr(options.check if field in CheckOptions.__dataclass_fields__ else options, field)


@pytest.mark.parametrize(("name", "text", "field", "value"), VALUES)
def test_an_option_on_the_command_line_and_in_the_ini_file(name, text, field, value):
    ini = "opcost_" + name.replace("-", "_")
    assert field_of(read(f"--opcost-{name}={text}"), field) == value
    assert field_of(read(ini=[(ini, text)]), field) == value


@pytest.mark.parametrize(("name", "text", "field", "value"), VALUES)
def test_the_command_line_wins_over_the_ini_file(name, text, field, value):
    ini = {"opcost_" + name.replace("-", "_"): "nonsense that would be refused, =/"}
    if name not in ("baselines", "mnist", "json", "html", "markdown", "tensorboard", "base", "base-python"):
        assert "in /project/tox.ini" in refused(ini=ini)
    assert field_of(read(f"--opcost-{name}={text}", ini=ini), field) == value


@pytest.mark.parametrize(
    ("args", "ini", "device", "batch_size", "needed"),
    [
        ((), {}, "cpu", 16, ()),
        (("--opcost-batch-size=4,16",), {}, "cpu", 4, ("--opcost-batch-size=4",)),
        (("--opcost-batch-size=4,16",), {}, "cpu", 16, ()),  # one of the usual ones
        (("--opcost-batch-size=4",), {}, "cpu", None, ()),  # the test takes none
        (("--opcost-batch-size=4",), {"opcost_batch_size": "4,8"}, "cpu", 4, ()),
        ((), {"opcost_batch_size": "4,8"}, "cpu", 4, ()),
        (("--opcost-device=cuda",), {}, "cuda", None, ("--opcost-device=cuda",)),
        (("--opcost-device=cuda",), {}, None, None, ("--opcost-device=cuda",)),
        (("--opcost-device=cpu,cuda",), {}, "cpu", None, ()),
        (("--opcost-device=cuda",), {"opcost_device": "cpu,cuda"}, "cuda", None, ()),
        # A test without a device of its own runs on the first.
        (("--opcost-device=cuda",), {"opcost_device": "cpu,cuda"}, None, None, ("--opcost-device=cuda",)),
        (
            ("--opcost-baselines=my base", "--opcost-threads=2", "--opcost-steps=9", "--opcost-ratio=a/b=1",
             "--opcost-ratio=c/d=1", "--opcost-mnist=sample"),
            {}, "cpu", None,
            ("--opcost-threads=2", "--opcost-ratio=a/b=1", "--opcost-ratio=c/d=1", "'--opcost-baselines=my base'"),
        ),
        (("--opcost-threads=2",), {"opcost_threads": "2"}, "cpu", None, ("--opcost-threads=2",)),
    ],
)  # fmt: skip
def test_what_a_command_needs_to_find_a_test_again(args, ini, device, batch_size, needed):
    options = read(*[arg.replace("a/b", "conv/addmm").replace("c/d", "copy/total") for arg in args], ini=ini)
    found = options.needed(device, batch_size, mnist=False)
    assert tuple(one.replace("conv/addmm", "a/b").replace("copy/total", "c/d") for one in found) == needed


def test_a_test_that_takes_mnist_needs_the_same_images():
    assert read("--opcost-mnist=sample").needed("cpu", 16, mnist=True) == ("--opcost-mnist=sample",)


def test_the_tables_above_hold_every_option():
    declared = {text for action in Config().parser.argparse._actions for text in action.option_strings}
    listed = {f"--opcost-{name}" for name, *_ in VALUES} | {f"--{name}" for name in FLAGS}
    assert declared - {"-h", "--help", "--device"} == listed
    assert Config().parser.inis.keys() == {name[2:].replace("-", "_") for name in listed}


@pytest.mark.parametrize(
    ("flag", "enabled", "update", "prune"),
    [
        ("opcost", True, Update.NONE, False),
        ("opcost-update-baselines", True, Update.ALL, False),
        ("opcost-add-rounds", True, Update.ROUNDS, False),
        ("opcost-update-missing", True, Update.MISSING, False),
        ("opcost-prune-baselines", False, Update.NONE, True),
    ],
)
def test_flags(flag, enabled, update, prune):
    ini = flag.replace("-", "_")
    for options in (read(f"--{flag}"), read(ini={ini: "true"}), read(f"--{flag}", ini={ini: "false"})):
        assert (options.enabled, options.update, options.prune) == (enabled, update, prune)
    assert not read(ini={ini: "false"}).enabled


def test_updating_all_outweighs_updating_what_is_missing():
    assert read("--opcost-update-missing", "--opcost-update-baselines").update is Update.ALL


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--opcost-add-rounds", "--opcost-update-missing"], "--opcost-add-rounds adds to baselines that hold"),
        (["--opcost-add-rounds", "--opcost-update-baselines"], "--opcost-add-rounds adds to baselines that hold"),
        (["--opcost-add-rounds", "--opcost-rounds=0"], "--opcost-add-rounds with --opcost-rounds=0 has nothing to add"),
    ],
)
def test_adding_rounds_and_something_else_is_refused(args, told):
    assert refused(*args).startswith(told)
    assert "\nExpected: " in refused(*args)


def test_an_update_option_outweighs_adding_rounds_by_the_ini_file():
    assert read("--opcost-update-missing", ini={"opcost_add_rounds": "true"}).update is Update.MISSING


def test_device_is_another_name_and_repeats():
    options = read("--device=cpu", "--device", "cuda", "--opcost-device=cuda:1,cpu")
    assert options.devices == ("cpu", "cuda", "cuda:1")
    assert read(ini={"opcost_device": "cpu\nmps"}).devices == ("cpu", "mps")


def test_ratios_repeat_and_the_default_one_s_band_can_be_set():
    options = read("--opcost-ratio=conv/addmm=0.5", "--opcost-ratio", "copy/total,pool/total=1")
    assert options.check.ratios == (("conv/addmm", 0.5), ("copy/total", 0.10), ("pool/total", 1.0))


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--opcost-batch-size=0"], "--opcost-batch-size='0' is not valid."),
        (["--opcost-batch-size=abc"], "--opcost-batch-size='abc' is not valid."),
        (["--opcost-batch-size=1,-1"], "--opcost-batch-size='-1' is not valid."),
        (["--opcost-batch-size=1,16,"], "--opcost-batch-size='1,16,' has nothing between two commas, or at an end."),
        (["--opcost-tolerance=nan"], "--opcost-tolerance='nan' is not valid."),
        (["--opcost-tolerance=inf"], "--opcost-tolerance='inf' is not valid."),
        (["--opcost-floor=-1"], "--opcost-floor='-1' is not valid."),
        (["--opcost-floor=inf"], "--opcost-floor='inf' is not valid."),
        (["--opcost-fail-on=cheaper"], "--opcost-fail-on='cheaper' is not valid."),
        (["--opcost-device=tpu"], "--opcost-device='tpu' is no device"),
        (["--opcost-ratio=conv"], "--opcost-ratio: 'conv' is no ratio."),
        (["--opcost-missing=ignore"], "--opcost-missing='ignore' is not valid."),
        (["--opcost-steps=0"], "--opcost-steps='0' is not valid."),
        (["--opcost-threads=0"], "--opcost-threads='0' is not valid."),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_switched_on_or_not(args, told):
    assert refused(*args).startswith(told)
    assert "\nExpected: " in refused("--opcost", *args)


def test_a_bad_device_is_told_under_the_name_that_was_written():
    with pytest.raises(pytest.UsageError) as caught:
        read("--opcost-device=cpu", "--device=cuda,tpu")
    assert str(caught.value).startswith("--device='tpu' is no device that opcost knows.\nExpected: ")


def test_an_empty_ini_value_is_none():
    assert read(ini={"opcost_top": "", "opcost_baselines": ""}) == read()


def test_an_error_in_the_ini_file_names_the_file():
    assert refused(ini={"opcost_batch_size": "0"}).startswith("opcost_batch_size in /project/tox.ini='0' is not valid")
    overridden = Config(ini={"opcost_batch_size": "0"})
    overridden.inipath = None
    with pytest.raises(OptionError, match=r"^opcost_batch_size in the ini file='0' is not valid"):
        read_options(overridden, {})


@pytest.mark.parametrize(
    ("ci", "missing"),
    [("true", "fail"), ("1", "fail"), ("woodpecker", "fail"), ("", "record"), ("0", "record"), ("False", "record")],
)
def test_ci_decides_what_happens_to_a_missing_baseline(ci, missing):
    assert read(environ={"CI": ci}).missing is Missing(missing)
    assert read("--opcost-missing=report", environ={"CI": ci}).missing is Missing.REPORT
    assert read(ini={"opcost_missing": "report"}, environ={"CI": ci}).missing is Missing.REPORT


def test_the_process_s_own_environment_counts_where_none_is_given(monkeypatch):
    monkeypatch.setenv("CI", "true")
    assert read_options(Config()).missing is Missing.FAIL


def test_ci_does_not_record_unless_it_is_told_to_update():
    assert read("--opcost-missing=record", environ={"CI": "true"}).missing is Missing.FAIL
    assert read("--opcost-missing=record").missing is Missing.RECORD
    assert read("--opcost-update-missing", environ={"CI": "true"}).update is Update.MISSING


def test_mnist_comes_from_the_environment_too():
    assert read(environ={"OPCOST_MNIST": "/data"}).mnist == "/data"
    assert read("--opcost-mnist=sample", environ={"OPCOST_MNIST": "/data"}).mnist == "sample"
    assert read(environ={"OPCOST_MNIST": ""}).mnist is None


def test_the_cache_is_where_the_system_keeps_them():
    assert read(environ={"XDG_CACHE_HOME": "/cache"}).cache == Path("/cache/pytest-opcost")
    assert read(environ={"XDG_CACHE_HOME": ""}).cache == Path.home() / ".cache" / "pytest-opcost"


def test_paths_below_leaves_out_single_tests(tmp_path):
    assert paths_below(["tests", "a.py::test_x", "/else", "../b"], tmp_path / "c") == (
        tmp_path / "c" / "tests",
        Path("/else"),
        tmp_path / "b",
    )


def test_a_round_is_told_its_options_by_the_run_that_asks():
    config = Config(["--opcost-threads=3"])
    config.stash[AS_ASKED] = lambda found: (found.threads, "as asked")

    assert read_options(config, {}) == (3, "as asked")
