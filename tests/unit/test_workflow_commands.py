from __future__ import annotations

import re

import pytest

from pytest_opcost.report.github.commands import command


def understood(line):
    """What GitHub's runner reads in a line (actions/runner, ActionCommand.TryParseV2): level, properties, message."""
    assert "\n" not in line
    assert "\r" not in line
    level, properties, message = re.fullmatch(r"::(\w+)(?: (.*?))?::(.*)", line).groups()
    unescaped = (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%"))

    def plain(text, rules):
        for written, found in rules:
            text = text.replace(written, found)
        return text

    pairs = (one.split("=", 1) for one in (properties or "").split(",") if one)
    given = {name: plain(value, unescaped) for name, value in pairs}
    return level, given, plain(message, (unescaped[0], unescaped[1], unescaped[4]))


def test_a_plain_one():
    line = command("error", "it drifted", file="tests/test_a.py", line=3, title="opcost")
    assert line == "::error file=tests/test_a.py,line=3,title=opcost::it drifted"


@pytest.mark.parametrize(
    "text",
    [
        "a: b, c",
        "100 % of it",
        "%0A is no new line",
        "one\ntwo\r\nthree",
        "::error::another",
        "test[a=b::c,line=9]",
        "é",
    ],
)
def test_whatever_is_in_a_text_comes_back_as_it_was(text):
    assert understood(command("warning", text, file=text, title=text)) == (
        "warning",
        {"file": text, "title": text},
        text,
    )


def test_what_is_not_known_is_left_out():
    assert command("error", "m", file=None, line=None, title="t") == "::error title=t::m"
    assert command("error", "m") == "::error::m"
