"""Views -> the texts of all pages, by the templates."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pytest_opcost import __version__
from pytest_opcost.report import charts, quantities
from pytest_opcost.report.page.flow import module_rows
from pytest_opcost.report.page.names import trace_of
from pytest_opcost.report.page.overview import overview
from pytest_opcost.report.page.tests import flops_of
from pytest_opcost.report.trace import chrome_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pytest_opcost.flow import DataFlow
    from pytest_opcost.results import RunResults

STATIC = ("style.css", "page.js")


def pages(run: RunResults) -> tuple[Callable[[str], str], dict[str, str]]:
    """What makes the first page's text from the name of the folder that has all others, and the texts of these."""
    templates, view = _templates(), overview(run)
    static = files("pytest_opcost.report.page") / "static"
    texts = {name: (static / name).read_text(encoding="utf-8") for name in STATIC}
    for family in view.families:
        texts[family.page] = templates.get_template("family.html").render(view=view, family=family, root="")
    for one in run.checks:
        if one.profile.timeline:
            texts[trace_of(one.subject)] = chrome_trace(one)

    def index(folder: str) -> str:
        return templates.get_template("index.html").render(view=view, root=f"{folder}/")

    return index, texts


def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("pytest_opcost.report.page"),
        autoescape=True,  # ids and names of operators are anybody's text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"version": __version__, "charts": charts, "svg": _svg, "flow_figure": _flow_figure}
    environment.globals |= {"module_rows": module_rows, "flops_of": flops_of}
    texts = (
        quantities.time_text, quantities.flop_text, quantities.share_text, quantities.change_text,
        quantities.bytes_text, quantities.digits,
    )  # fmt: skip
    environment.filters |= {text.__name__: text for text in texts}
    return environment


def _svg(figure: Figure | None, title: str, description: str = "") -> Markup:
    """The figure in the page; nothing where there is none. Everything in it was escaped when it was drawn."""
    return Markup("" if figure is None else charts.as_svg(figure, title, description))


def _flow_figure(flow: DataFlow, total_us: float) -> Figure:
    from pytest_opcost.report.drawing import flow_figure

    return flow_figure(flow, total_us)
