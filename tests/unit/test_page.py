"""The pages' texts, from records."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

from made_up import FLOW, made_up_result, made_up_run, made_up_training, many
from records import op, profile, result

from pytest_opcost.facts import Place
from pytest_opcost.flow import FlowNode
from pytest_opcost.judge import Kind, Outcome
from pytest_opcost.report.page import flow, write_page
from pytest_opcost.report.page.render import pages
from pytest_opcost.report.quantities import change_text, digits

#: Elements that have no end tag in HTML.
VOID = {"meta", "link", "br", "wbr", "hr", "img", "input"}


class Elements(HTMLParser):
    """The elements of a page: tags with their attributes, and whether all of them are closed."""

    def __init__(self, text):
        super().__init__()
        self.found, self._open = [], []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def all(self, tag, **attributes):
        return [found for name, found in self.found if name == tag and attributes.items() <= found.items()]


def written(run):
    index, others = pages(run)
    texts = {name: content.decode() for name, content in others.items() if not name.endswith(".gz")}
    return {"index.html": index("pages"), **texts, **{name: "" for name in others if name.endswith(".gz")}}


def visible(text):
    apart = re.sub(r"</(?:li|td|th|p|tr|h\d|summary)>", " ", text)
    return " ".join(re.sub(r"<[^>]*>", "", apart).split())


def family_page(texts):
    (name,) = [name for name in texts if name.endswith(".html") and name != "index.html"]
    return texts[name]


def test_failing_tests_come_first_and_are_counted():
    outcomes = (Outcome.PASSED, Outcome.RECORDED, Outcome.DRIFTED, Outcome.INCONCLUSIVE, Outcome.PASSED)
    run = made_up_run(*(made_up_result("t.py::a", 2**i, outcome=outcome) for i, outcome in enumerate(outcomes)))
    index = written(run)["index.html"]
    body = index[index.index("<tbody>") :]
    order = re.findall(r'class="verdict (\w+)"', body)
    assert order == ["drifted", "inconclusive", "recorded", "passed", "passed"]
    assert "1 drifted 1 inconclusive 1 recorded 2 passed" in visible(index)
    assert "another kernel: gemm" in index


def test_every_link_leads_somewhere():
    run = many(24)
    texts = written(run)
    ids = {
        name: {found["id"] for _, found in Elements(text).found if "id" in found}
        for name, text in texts.items()
        if name.endswith(".html")
    }
    links = 0
    for name in ids:
        for found in Elements(texts[name]).all("a"):
            target, _, anchor = found["href"].partition("#")
            target = target.removeprefix("pages/").removeprefix("../") or name
            assert target in texts, found
            if anchor and anchor != "content":
                assert anchor in ids[target], found
            links += 1
    assert links > 100
    for name, text in texts.items():
        if name.endswith(".html"):
            listed = [found["id"] for _, found in Elements(text).found if "id" in found]
            assert len(listed) == len(set(listed))


def test_nothing_comes_from_a_network():
    for text in written(many(12)).values():
        assert not re.search(r"(?:src|href)=\"(?:https?:)?//|url\(['\"]?(?:https?:)?//|@import", text)


def test_ids_and_names_are_text_and_nothing_else():
    evil = '<script>alert("x")</script>'
    found = made_up_result(f"tests/{evil}.py::test_{evil}", 16, outcome=Outcome.DRIFTED)
    ops = (op(f"evil::{evil}", 900.0, family=evil), *found.profile.ops)
    cost = profile(*ops)
    findings = [replace(one, message=f"{evil} moved") for one in found.verdict.findings]
    run = made_up_run(
        replace(
            found,
            profile=replace(cost, remarks=(evil,), cold=replace(found.profile.cold, ops=((evil, 1.0, 0.0),))),
            verdict=replace(found.verdict, findings=tuple(findings)),
            causes=tuple(replace(one, message=evil) for one in found.causes),
            baseline=f"baselines/{evil}.yaml",
            origin=evil,
            ratios={f"{evil}/total": 0.5},
        ),
        trainings=(replace(made_up_training(), model=evil, data=evil, hyperparameters=((evil, evil),)),),
    )
    texts = written(run)
    for name, text in texts.items():
        assert "<" not in name
        if name.endswith(".html"):
            assert "<script>" not in text
            scripts = Elements(text).all("script")
            assert [found.get("src", "").rpartition("/")[2] for found in scripts] == ["page.js"]
            assert "&lt;script&gt;" in text


def test_tables_are_read_by_their_headers_and_headings_are_in_order():
    texts = written(many(24))
    for name, text in texts.items():
        if not name.endswith(".html"):
            continue
        elements = Elements(text)
        assert all(found.get("scope") in ("col", "row", "rowgroup") for found in elements.all("th"))
        assert all(found.get("role") == "img" and found["aria-label"] for found in elements.all("svg"))
        levels = [int(tag[1]) for tag, _ in elements.found if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))
        assert elements.all("a", href="#content")
        assert elements.all("main", id="content")


@pytest.mark.parametrize(
    ("bands", "told"),
    [((("conv/addmm", 0.041),), "± 4.1 %"), ((("conv/addmm", 11.4),), "up to 12 times"), ((), "–")],  # noqa: RUF001
)
def test_a_ratio_has_its_noise_band_beside_it(bands, told):
    one = made_up_result("tests/test_a.py::test_a", 16)
    text = visible(family_page(written(made_up_run(replace(one, verdict=replace(one.verdict, ratio_bands=bands))))))
    change = one.ratios["conv/addmm"] / 2 - 1
    assert f"Ratio Baseline Now Change Noise band conv/addmm 2.00 {digits(one.ratios['conv/addmm'])} " in text
    assert f"{change_text(change)} {told} Operator Baseline" in text


def test_one_clock_has_no_tabs_two_have():
    host = Elements(family_page(written(made_up_run(made_up_result("t.py::a", 16)))))
    both = Elements(family_page(written(made_up_run(made_up_result("t.py::a", 16, "cuda")))))
    assert host.all("button", role="tab") == []
    tabs = both.all("button", role="tab")
    panels = both.all("div", role="tabpanel")
    assert [tab["aria-controls"] for tab in tabs] == [panel["id"] for panel in panels]
    assert [tab["aria-selected"] for tab in tabs] == ["true", "false"]


def test_the_operators_in_figures():
    text = visible(family_page(written(made_up_run(made_up_result("t.py::a", 16)))))
    assert (
        "aten::convolution_backward conv 2 1.56 ms 40.3 % 16.0 MFLOP 10.3 GFLOP/s aten::convolution_backward: 2 kernels"
        in text
    )
    assert "Kernels void cutlass::gemm&lt;float, 128&gt;(Params) × 2 im2col × 1" in text  # noqa: RUF001
    assert "Inputs f32[16,32,26,26] f32[64,32,3,3] × 2 Called in conv1, forward, model.py:31" in text  # noqa: RUF001
    assert "the whole step 90.0 ms 4.67 ms 19 times aten::addmm 40.0 ms 204 µs 200 times" in text


def with_inclusive_times(found):
    """The same result, whose operators took twice as long with what they called."""
    ops = (
        replace(one, inclusive_host_us=2 * one.self_host_us, inclusive_device_us=2 * one.self_device_us)
        for one in found.profile.ops
    )
    return replace(found, profile=replace(found.profile, ops=tuple(ops)))


@pytest.mark.parametrize("device", ["cpu", "cuda"])
@pytest.mark.parametrize("known", [True, False])
def test_every_row_of_operators_has_a_cell_for_each_header(device, known):
    found = made_up_result("t.py::a", 16, device)
    text = family_page(written(made_up_run(with_inclusive_times(found) if known else found)))

    tables = re.findall(r'<table class="sorts operators">.*?</table>', text, re.DOTALL)
    assert len(tables) == (1 if device == "cpu" else 2)
    for table in tables:
        rows = re.findall(r"<tr>.*?</tr>", table, re.DOTALL)
        assert len(rows) > 3
        assert len({len(re.findall(r"<t[hd]\b", row)) for row in rows}) == 1


def test_total_times_stand_beside_self_times_where_they_are_known():
    found = made_up_result("t.py::a", 16)
    text = visible(family_page(written(made_up_run(with_inclusive_times(found)))))
    assert "aten::convolution_backward conv 2 1.56 ms 3.12 ms 40.3 % 16.0 MFLOP" in text
    assert "Total: with all that the operator called." in text
    assert "Total host" not in visible(family_page(written(made_up_run(found))))


def test_what_is_computed_is_told_on_the_clock_of_what_computes():
    text = family_page(written(made_up_run(made_up_result("t.py::a", 16, "cuda"))))
    device, host = re.findall(r'<table class="sorts operators">.*?</table>', text, re.DOTALL)
    assert "FLOP/s" in device
    assert "FLOP" not in host


def test_the_verdict_of_one_that_drifted():
    text = visible(family_page(written(made_up_run(made_up_result("t.py::a", 16, outcome=Outcome.DRIFTED)))))
    assert "Compared with baselines/machine/a.yaml, recorded 2026-11-27, in 1 measurement." in text
    assert "Cause: another kernel: gemm aten::addmm: 91 us a step, was 70 us (+30 %)" in text
    assert "aten::addmm 157 µs 204 µs +30.0 % +30.0 % ± 12.0 % no" in text
    assert "aten::mm 317 µs 320 µs +1.0 % +1.0 % ± 12.0 % yes" in text
    assert "accept it: pytest &#34;t.py::a[cpu-16]&#34; --opcost-update-baselines" in text


def test_one_that_passed_asks_for_nothing():
    passed = written(made_up_run(made_up_result("t.py::a", 16)))
    assert "--opcost-update-baselines" not in family_page(passed)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"compared": False, "text": "schema: 2", "changes": ("new", "step total +1 %")},
         "Recorded in baselines/machine/a.yaml: new; step total +1 %."),
        ({"compared": False, "baseline": ""}, "Not compared: there is no baseline."),
        ({"baseline": "", "origin": "commit abc"}, "Compared with the base, commit abc, in 1 measurement."),
    ],
)  # fmt: skip
def test_what_was_compared_with(more, words):
    assert words in visible(family_page(written(made_up_run(result(**more)))))


def test_a_section_is_open_where_it_failed():
    run = made_up_run(
        *(made_up_result("t.py::a", 2**i, outcome=o) for i, o in enumerate((Outcome.PASSED, Outcome.DRIFTED)))
    )
    sections = Elements(family_page(written(run))).all("details")
    assert ["open" in found for found in sections if found.get("class") == "test"] == [False, True]


def test_a_run_without_results_is_a_page_too():
    text = visible(written(made_up_run())["index.html"])
    assert "No check ran." in text
    assert "Nothing was measured." in text


def test_results_without_batch_size_baseline_or_facts():
    bare = result(profile(op("my::op", 3.0)), batch_size=None, ratios={}, baseline_ratios={}, compared=False)
    assert "my::op" in visible(family_page(written(made_up_run(bare))))


def test_trainings_and_how_they_ended():
    early = replace(made_up_training(16), test_losses=(), test_accuracies=(), epoch_seconds=(), interrupted=True)
    text = visible(written(made_up_run(trainings=(made_up_training(), early)))["index.html"])
    assert "cpu 64 eager 2 91.14 % 0.3000 1.90 s 950 ms start 14.1 ms, 5.85 end 14.1 ms, 5.85" in text
    assert "cpu 16 eager 0 of 2, interrupted – – – –" in text  # noqa: RUF001
    assert text.count("Trained on 1,024 images and tested on 500 (the shipped sample), optimizer Adadelta.") == 1


def test_many_configurations_are_rows():
    few, lots = (family_page(written(many(count))) for count in (7, 8))
    table = re.compile(r'<table class="compared">.*?</thead>', re.DOTALL)
    assert visible(table.search(few)[0]).startswith("cpu, batch 1 cpu, batch 2")
    assert visible(table.search(lots)[0]).startswith("Step A sample")


def test_the_data_flow_of_each_device_at_its_largest_batch(monkeypatch):
    from markupsafe import Markup

    class Module:
        calls, phases_us, total_us = 2, (400.0, 0.0, 0.0, 0.0), 400.0

        def __init__(self, name):
            self.name = name

        def share_of(self, total_us):
            return self.total_us / total_us

    drawn = []
    monkeypatch.setattr(
        flow,
        "drawn",
        lambda view: drawn.append(view.configuration) or Markup("<svg role='img' aria-label='flow'></svg>"),
    )
    monkeypatch.setattr(flow, "module_rows", lambda view: [(0, Module("")), (1, Module("conv1"))])
    found = [made_up_result("t.py::a", *one) for one in ((1, "cpu"), (16, "cpu"), (1, "cuda"))]
    run = made_up_run(*(replace(one, profile=replace(one.profile, flow=FLOW)) for one in found))
    text = visible(family_page(written(run)))
    assert drawn == ["cpu, batch 16", "cuda, batch 1"]
    assert "Data flow and modules, cpu, batch 16" in text
    assert "the step 2 400 µs – – – 400 µs 10.3 % conv1 2 400 µs" in text  # noqa: RUF001
    assert re.search(r"in no call of the data flow [\d.]+ ms 89\.7 %", text)


def test_all_phases_are_drawn_where_there_is_a_backward():
    backward = FlowNode("aten::convolution_backward", "conv", Place("backward", "conv1"), "f32[16,1,28,28]", 50.0)
    for flow_of_step, figures in ((FLOW, 1), (replace(FLOW, nodes=(*FLOW.nodes, backward)), 2)):
        one = made_up_result("t.py::a", 16)
        page = family_page(written(made_up_run(replace(one, profile=replace(one.profile, flow=flow_of_step)))))
        assert page.count('aria-label="Data flow of the forward phase, cpu, batch 16"') == 1
        assert page.count('aria-label="Forward, backward and optimizer, cpu, batch 16"') == figures - 1


def test_the_checks_of_one_test_stand_side_by_side():
    fast, slow = (replace(made_up_result("t.py::a", 16), profile=profile(op("my::op", us))) for us in (3.0, 9.0))
    named = [replace(one, subject=replace(one.subject, check=check)) for one, check in ((fast, "fast"), (slow, None))]
    found = written(made_up_run(*named))
    texts = [visible(text) for name, text in found.items() if name.endswith(".html") and name != "index.html"]
    assert len(texts) == 2
    for text in texts:
        assert "Checks side by side The checks of this test, cpu, batch 16 fast unnamed Step" in text
        assert "Operators, on the host 3.00 µs 9.00 µs" in text
    assert "Checks side by side" not in visible(family_page(written(made_up_run(fast))))


def test_the_pages_of_one_run_are_the_same_in_every_run():
    assert written(many(12)) == written(many(12))


def test_two_tests_whose_names_read_alike_have_pages_of_their_own():
    run = made_up_run(
        made_up_result("a/t.py::x_y", 1), made_up_result("b/t.py::x_y", 1), made_up_result("b/t.py::x-y", 1)
    )
    assert len([name for name in written(run) if name.endswith(".html")]) == 4
    assert len([name for name in written(run) if name.endswith(".json.gz")]) == 3


def test_a_page_is_written(tmp_path):
    write_page(tmp_path / "page", many(12))
    (pages_folder,) = (tmp_path / "page").glob("pages-*")
    index = (tmp_path / "page" / "index.html").read_text("utf-8")
    assert f'href="{pages_folder.name}/style.css"' in index
    assert {"style.css", "page.js", "traces"} < {path.name for path in pages_folder.iterdir()}
    assert len(list((pages_folder / "traces").iterdir())) == 12


def test_a_finding_that_is_cheaper_can_be_banked():
    from records import finding

    found = result(None, Outcome.PASSED, finding(Kind.CHEAPER, change=-0.3))
    assert "--opcost-update-baselines" in family_page(written(made_up_run(found)))
