"""Views -> the texts of all pages, by the templates."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from pytest_opcost import __version__
from pytest_opcost.report import charts, quantities
from pytest_opcost.report.page import flow
from pytest_opcost.report.page.names import trace_of
from pytest_opcost.report.page.overview import overview
from pytest_opcost.report.page.tests import flops_of
from pytest_opcost.report.saving import as_svg
from pytest_opcost.report.trace import chrome_trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pytest_opcost.report.page.families import FamilyView
    from pytest_opcost.results import RunResults

#: Never within an entity that escaping made.
_SEPARATORS = re.compile(r"(::|[/_\[.])(?=\w)")
STATIC = ("style.css", "page.js")


def pages(run: RunResults) -> tuple[Callable[[str], str], dict[str, bytes]]:
    """What makes the first page's text from the name of the folder that has all others, and the contents of these."""
    templates, view = _templates(), overview(run)
    static = files("pytest_opcost.report.page") / "static"
    contents = {name: (static / name).read_bytes() for name in STATIC}
    curves = {family.page: _curve(family) for family in view.families}
    for family in view.families:
        page = templates.get_template("family.html").render(
            view=view, family=family, curve=curves[family.page], root=""
        )
        contents[family.page] = page.encode()
    for one in run.checks:
        if one.profile.timeline:
            contents[trace_of(one.subject)] = chrome_trace(one)

    def index(folder: str) -> str:
        return templates.get_template("index.html").render(view=view, curves=curves, root=f"{folder}/")

    return index, contents


def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("pytest_opcost.report.page"),
        autoescape=True,  # ids and names of operators are anybody's text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"version": __version__, "charts": charts, "svg": _svg, "flow": flow, "flops_of": flops_of}
    texts = (
        quantities.time_text, quantities.flop_text, quantities.share_text, quantities.change_text, quantities.band_text,
    )  # fmt: skip
    environment.filters |= {text.__name__: text for text in texts} | {"breakable": _breakable, "unbroken": _unbroken}
    return environment


def _svg(figure: Figure | None, title: str, description: str = "") -> Markup:
    """The figure in the page; nothing where there is none. Everything in it was escaped when it was drawn."""
    return Markup("" if figure is None else as_svg(figure, title, description))


def _curve(family: FamilyView) -> Markup:
    """A test's ratios, for its own page and the first one."""
    return _svg(charts.ratio_curve(family.group.members), f"Ratios over batch size, {family.group.title}")


def _unbroken(text: str) -> str:
    """A sentence whose figures stay on the line of their units."""
    return re.sub(r"(?<=\d) (?=(?:%|[µm]?s)\b|%)", "\N{NO-BREAK SPACE}", text)


def _breakable(text: str) -> Markup:
    """A long name that a line may break behind its separators."""
    return Markup(_SEPARATORS.sub(r"\1<wbr>", str(escape(text))))
