from __future__ import annotations

import re
import shlex

import pytest
from exports import CHECK, NASTY, both, drifted, exported, nasty
from made_up import made_up_run

from pytest_opcost.report.exports.metrics_text import Family, Sample, metrics_text

TITLE = "tests/test_a.py::test_step[cpu-16]"
MACHINE = "cpu-test-cpu-9000-1-thread-torch2.11"


def read(text):
    """The families as the reader of Prometheus' own client finds them."""
    parser = pytest.importorskip("prometheus_client.openmetrics.parser")
    return {family.name: family for family in parser.text_string_to_metric_families(text)}


def test_what_a_label_holds_cannot_end_it():
    family = Family("a_us", "About a.", [Sample(2.5, {"x": 'q"\\\n\r,', "y": None})], "us")
    assert metrics_text([family, Family("b", "Nothing.", [])]) == (
        '# TYPE a_us gauge\n# UNIT a_us us\n# HELP a_us About a.\na_us{x="q\\"\\\\\\n?,"} 2.5\n# EOF\n'
    )


def test_openmetrics_is_read_by_prometheus_own_client(tmp_path):
    families = read(exported("openmetrics", both(), tmp_path))
    step = families["opcost_step_seconds"]
    assert (step.type, step.unit, len(step.samples)) == ("gauge", "seconds", 2)
    assert step.samples[0].labels == {"test": TITLE, "device": "cpu", "batch_size": "16", "machine": MACHINE}
    assert step.samples[0].value == pytest.approx(4669.92e-6)
    labels = step.samples[1].labels
    assert labels["test"] == NASTY.replace("\u2028", "?")
    assert labels["check"] == CHECK.replace("\r", "?").replace("\udc80", "?")
    clocks = [(one.labels["clock"], one.labels["device"]) for one in families["opcost_self_seconds"].samples]
    assert clocks == [("host", "cpu"), ("host", "cuda"), ("device", "cuda")]
    costs = families["opcost_operator_self_seconds"].samples
    assert len(costs) == 10 + 2 * 10
    assert (costs[0].labels["operator"], costs[0].labels["family"], costs[0].value) == (
        "aten::convolution_backward", "conv", pytest.approx(1560e-6),
    )  # fmt: skip
    assert families["opcost_operator_calls"].samples[0].value == 2
    assert families["opcost_ratio"].samples[0].labels["ratio"] == "conv/addmm"
    verdicts = families["opcost_verdict"]
    assert verdicts.type == "stateset"
    assert [one.labels["opcost_verdict"] for one in verdicts.samples if one.value] == ["drifted", "passed"]
    assert families["opcost_environment"].samples[0].labels["torch"] == "2.11.0+cpu"


@pytest.mark.parametrize("kind", ["openmetrics", "gitlab"])
def test_an_empty_run_and_a_test_that_ran_again(tmp_path, kind):
    assert exported(kind, made_up_run(), tmp_path) == "# EOF\n"
    once = exported(kind, made_up_run(drifted()), tmp_path)
    assert exported(kind, made_up_run(drifted(), drifted()), tmp_path) == once


def test_gitlab_reads_every_line(tmp_path):
    text = exported("gitlab", both(), tmp_path)
    # As its own reader does: comments cut off, even in quotes, then a shell's splitting (parsers/metrics/generic.rb).
    lines = [shlex.split(re.sub("#.*$", "", line)) for line in text.split("\n")]
    found = dict(line for line in lines if line)
    assert len(found) == 6
    assert found[f"opcost_drifted{{test={TITLE},machine={MACHINE}}}"] == "1"
    assert found[f"opcost_step_us{{test={TITLE},machine={MACHINE}}}"] == "4670"
    assert found[f"opcost_ratio{{test={TITLE},ratio=conv/addmm,machine={MACHINE}}}"] == "4.98"
    assert sum(value == "0" for value in found.values()) == 1


def test_gitlab_s_file_is_openmetrics(tmp_path):
    families = read(exported("gitlab", made_up_run(nasty("a.py::t[#1]", None)), tmp_path))
    assert families.keys() == {"opcost_drifted", "opcost_step_us", "opcost_ratio"}
    assert families["opcost_step_us"].samples[0].labels["test"] == "a.py::t[\uff031]"
