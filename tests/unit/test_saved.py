from __future__ import annotations

import json
from dataclasses import replace

import pytest
from records import CPU, CUDA, finding, result, step
from reports import STARTED, flowing, training
from test_results import full, measured_twice

from pytest_opcost import saved
from pytest_opcost.errors import ResultsError
from pytest_opcost.judge import Compared, Kind, Outcome
from pytest_opcost.report.json import write_json
from pytest_opcost.results import RunResults
from pytest_opcost.timeline import Span


def compared():
    one = result(flowing(), Outcome.INCONCLUSIVE, finding(Kind.NOISE), finding(Kind.INPUTS, took_us=(3.0, 4.0)))
    table = (Compared("aten::mm", 3.0, 4.0, 0.3, 0.1),)
    return replace(
        one, verdict=replace(one.verdict, seen=(("aten::mm", 0.2),), compared=table, ratio_bands=(("conv/addmm", 0.1),))
    )


EVERYTHING = RunResults(
    [CPU, CUDA],
    [replace(full(), text=None), measured_twice(), compared(), result(step(), batch_size=None, check="größer")],
    [training(costs=(("start", step()), ("end", flowing()))), training(interrupted=True, test_losses=(),
     test_accuracies=(), epoch_seconds=())],
    STARTED,
)  # fmt: skip


def written(tmp_path, run=EVERYTHING):
    path = tmp_path / "costs.json"
    write_json(path, run)
    return path


def changed(tmp_path, change):
    """The file with its document changed in place, or by what `change` returns."""
    path = written(tmp_path)
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), "utf-8")
    return path


def refusal(path, mend="Write it anew: pytest --opcost --opcost-json={}"):
    with pytest.raises(ResultsError) as caught:
        saved.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.endswith(mend.format(path))
    assert "\nExpected: " in message
    return message


def test_what_was_written_is_read_back(tmp_path):
    assert saved.load(written(tmp_path)) == EVERYTHING


def test_a_field_that_may_be_null_may_be_missing(tmp_path):
    """As one that was added since the file was written."""

    def without(document):
        del document["tests"][2]["findings"][0]["took_us"]
        for test in (0, 1, 3):
            del document["tests"][test]["ratio_bands"]

    assert saved.load(changed(tmp_path, without)) == EVERYTHING


def test_what_was_read_is_written_as_it_was(tmp_path):
    path = written(tmp_path)
    again = tmp_path / "again.json"
    write_json(again, saved.load(path))
    assert again.read_bytes() == path.read_bytes()


def test_timelines_images_and_texts_of_baselines_are_left_out(tmp_path):
    span = Span("aten::mm", "operator", "host 1", 0.0, 1.0)
    one = result(replace(step(), timeline=(span,)), text="schema: 2\n")
    read = saved.load(written(tmp_path, RunResults([], [one], [], STARTED, b"\1\2")))
    assert read == RunResults([], [replace(one, profile=replace(one.profile, timeline=()), text=None)], [], STARTED)


def test_fields_that_a_later_version_adds_are_passed_over(tmp_path):
    def add(document):
        for one in (document, document["tests"][0], document["tests"][0]["ops"][0], document["environments"][0]):
            one["brand_new"] = [1]

    assert saved.load(changed(tmp_path, add)) == EVERYTHING


def test_a_byte_order_mark_is_passed_over(tmp_path):
    path = written(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert saved.load(path) == EVERYTHING


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\x89PNG\r\n\x1a\n\xff", "is no UTF-8 text (byte 0)"),
        (b"\0\0\0\0", "is no valid JSON, line 1"),
        (b'{"schema": 1,\n "tests": [', "is no valid JSON, line 2"),
        (b'{"schema": 1, "tests": [NaN]}', "is no valid JSON: NaN is no number"),
        (b'{"schema": 1, "tests": ' + b"9" * 5000 + b"}", "is no valid JSON: Exceeds the limit"),
        (b"[" * 200_000, "is no valid JSON"),
        (b'{"tests": []}', "schema: found None"),
        (b'{"schema": 99, "tests": []}', "schema: found 99"),
        (b'{"schema": 1, "tests": []}', "started: found nothing"),
    ],
)
def test_what_is_no_file_of_results(tmp_path, content, told):
    path = tmp_path / "costs.json"
    path.write_bytes(content)
    assert told in refusal(path)


@pytest.mark.parametrize(
    ("content", "mend"),
    [
        ('{"traceEvents": []}', "It becomes one: opcost import {}"),
        ("[]", "It becomes one: opcost import {}"),
        ('{"a": 1}', "Write one: pytest --opcost --opcost-json=results.json"),
    ],
)
def test_a_file_of_something_else_is_not_to_be_written_over(tmp_path, content, mend):
    path = tmp_path / "costs.json"
    path.write_text(content)
    refusal(path, mend)


def test_no_file_at_all(tmp_path):
    assert "cannot be read: No such file" in refusal(tmp_path / "nowhere.json")
    anew = "Write it anew: pytest --opcost --opcost-json=results.json"
    assert "cannot be read: Is a directory" in refusal(tmp_path, anew)


@pytest.mark.parametrize(
    ("where", "value", "told"),
    [
        (("started",), "yesterday", "started: found 'yesterday'"),
        (("environments",), None, "environments: found null"),
        (("tests", 0), 3, "tests[0]: found 3"),
        (("tests", 0, "ops", 1, "calls"), 1.5, "tests[0].ops[1].calls: found 1.5"),
        (("tests", 0, "ops", 0, "self_host_us"), 10**400, "tests[0].ops[0].self_host_us: found 1000"),
        (("tests", 0, "ops", 0, "self_host_us"), -1.0, "tests[0].ops[0].self_host_us: found -1.0"),
        (("tests", 0, "ops", 0, "varying"), 1, "tests[0].ops[0].varying: found 1"),
        (("tests", 0, "ops", 0, "facts", "kernels"), [["a"]], "tests[0].ops[0].facts.kernels[0]: found a list of 1"),
        (("tests", 0, "verdict"), "fine", "tests[0].verdict: found 'fine'"),
        (("tests", 0, "findings", 0, "kind"), [], "tests[0].findings[0].kind: found a list"),
        (("tests", 0, "environment", "settings"), [], "tests[0].environment.settings: found a list"),
        (("tests", 0, "step_us"), True, "tests[0].step_us: found a yes/no"),
        (("tests", 2, "flow", "edges"), [[0, 99]], "tests[2].flow.edges[0]: found [0, 99]"),
        (("trainings", 0, "losses"), [1.0], "trainings[0].losses: found 1 values"),
        (("trainings", 0, "costs", 0, 1), {}, "trainings[0].costs[0][1].steps: found nothing"),
    ],
)
def test_a_damaged_field_is_named(tmp_path, where, value, told):
    def damage(document):
        *way, last = where
        for key in way:
            document = document[key]
        document[last] = value

    assert told in refusal(changed(tmp_path, damage))


def test_an_operator_that_stands_twice(tmp_path):
    def twice(document):
        document["tests"][1]["ops"] *= 2

    assert "aten::mkldnn_convolution, a second time" in refusal(changed(tmp_path, twice))


def test_every_field_that_is_written_is_in_the_contract(tmp_path):
    """Whoever adds a field to the writer must add it to the contract, or it is lost on the way back."""
    document = json.loads(written(tmp_path).read_text("utf-8"))
    del document["schema"], document["environment"]
    assert saved.RUN(document, "") == document
