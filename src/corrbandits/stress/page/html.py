"""The page of a stress test: one HTML file that holds everything it shows and asks nobody for anything."""

from __future__ import annotations

import ast
import base64
import csv
import dataclasses
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from corrbandits._shell.numbers import number
from corrbandits.policies import RULES
from corrbandits.stress import panels
from corrbandits.stress.findings import HELPS, HURTS, NEITHER, TIE
from corrbandits.stress.names import FIXED, HELD, REFERENCES, SURVIVORS, UNINFORMATIVE, axis_label, changes
from corrbandits.stress.page.charts import LINES, chart_data
from corrbandits.stress.priors import Setting

if TYPE_CHECKING:
    import xarray as xr

    from corrbandits.stress.findings import Row
    from corrbandits.stress.result import StressTest

TITLE = "What a wrong prior costs"
EXPLAINED = {"printed": " (as in the paper)", "plain": " (without the factor of correlation)"}


def render(test: StressTest, name: str = "") -> str:
    """Return the report of a stress test as one HTML file, headed by a name; the same test gives the same page."""
    from plotly.offline import get_plotlyjs

    data, library = test.data, get_plotlyjs().replace("\r\n", "\n")
    figures, table = chart_data(test), test.to_csv()
    title = escape(f"{name}: {TITLE[0].lower()}{TITLE[1:]}" if name else TITLE)
    parts = [
        f"<h1>{title}</h1>\n<p>A stress test of {escape(short(str(data.attrs['policy'])))}.</p>",
        _section("In short", _said(test.sentences())),
        _section("Where the prior helps and where it hurts", _maps(data, figures["limit"])),
        _section("One factor at a time", _curves(data)),
        _section("Beliefs that survive a bad prior", _survivors(test)),
        _section("How it was computed", _about(data)),
        _section("Every number", _numbers(table)),
    ]
    scripts = [library, asset("page.js")]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{_policy(scripts)}\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
        f"<style>\n{asset('page.css')}</style>\n</head>\n<body>\n<main>\n" + "\n".join(parts) + "\n</main>\n"
        f'<script type="application/json" id="numbers">{embedded(figures)}</script>\n'
        + "".join(f"<script>{script}</script>\n" for script in scripts)
        + "</body>\n</html>\n"
    )


def asset(name: str) -> str:
    """Return the text of a file that lies beside this module.

    >>> asset("page.js").splitlines()[0]
    '"use strict";'
    """
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def embedded(value: Any) -> str:
    """Return a value as JSON that can be written between script tags.

    >>> print(embedded({"name": "</script>"}).replace("u003c", "U"))  # doctest: +ELLIPSIS
    {"name": "...U/script..."}
    """
    text = json.dumps(value, allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def short(policy: str) -> str:
    """Return a policy as one would write it: only fields that are not what they would be anyway, in a few digits.

    >>> short("CorrelatedUCL(K=4.132731354122493, a=3.3000000001, nu=1.0, factor=True)"), short("mine(1)")
    ('CorrelatedUCL(a=3.3)', 'mine(1)')
    """
    try:
        call = ast.parse(policy, mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return policy
        usual = {field.name: field.default for field in dataclasses.fields(RULES[call.func.id])}
        given = {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (ValueError, SyntaxError, KeyError, MemoryError, RecursionError):
        return policy
    told = {name: value for name, value in given.items() if name not in usual or usual[name] != value}
    words = (f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value!r}" for name, value in told.items())
    return f"{call.func.id}({', '.join(words)})"


def _policy(scripts: Iterable[str]) -> str:
    """Return the rule that only these scripts run and nothing is fetched from anywhere."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    rules = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
    return f"<meta http-equiv=\"Content-Security-Policy\" content=\"{rules}base-uri 'none'; form-action 'none'\">"


def _section(heading: str, content: str) -> str:
    return f"<section>\n<h2>{heading}</h2>\n{content}\n</section>"


def _said(sentences: Sequence[str]) -> str:
    """Return what was found, the sentence to remember first and largest."""
    first, *others = (escape(sentence) for sentence in sentences)
    return f'<p class="first">{first}</p>\n<ul class="said">{_items(others)}</ul>'


def _items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{text}</li>" for text in texts)


def _choice(name: str, legend: str, values: Sequence[tuple[str, str]], chosen: str) -> str:
    """Return buttons of which one is on, reached and moved by keys."""
    buttons = "".join(
        f'<label><input type="radio" name="{name}" value="{escape(value)}"{" checked" * (value == chosen)}> '
        f"{escape(text)}</label>"
        for value, text in values
    )
    return f"<fieldset><legend>{legend}</legend>{buttons}</fieldset>"


def _maps(data: xr.Dataset, most: float) -> str:
    names, times = panels.fixed_candidates(data), [str(t) for t in data["time"].values.tolist()]
    figures = [
        _chart(
            grid.name, f"Heat map of {axis_label(grid.up, data.attrs)} against {axis_label(grid.across, data.attrs)}"
        )
        for grid in panels.pair_grids(data)
    ]
    explained = EXPLAINED if len(names) > 1 else {}
    choices = [(name, f"{panels.name_of(data, name)}{explained.get(name, '')}") for name in names]
    stops, reach = ", ".join(panels.COLOURS), number(most, 2)
    return (
        "<p>Each cell is a prior made wrong on purpose. Its number and colour say how its mean regret compares with "
        f"that of the uninformative prior: below {number(1 - TIE)} it {HELPS}, above {number(1 / (1 - TIE))} it "
        f"{HURTS}, and in between it {NEITHER}. The black line parts the cells where it hurts from the others; "
        "the dotted frame is the prior as given."
        "</p>\n"
        + _choice("candidate", "Policy", choices, str(data.attrs.get("candidate", names[0])))
        + _choice("time", "After how many decisions", [(t, f"{int(t):,}") for t in times], times[-1])
        + f'\n<div class="scale"><div style="background: linear-gradient(to right, {stops})"></div>'
        f"<p><span>1/{reach}: {HELPS}</span><span>1: break-even</span><span>{reach}: {HURTS}</span></p></div>\n"
        f'<p id="now" aria-live="polite"></p>\n<noscript><p>The figures need JavaScript; all numbers are in the table '
        f'at the end.</p></noscript>\n<div class="charts">{"".join(figures)}</div>'
    )


def _chart(name: str, words: str) -> str:
    described = escape(f"{words}. The numbers are in the table at the end of the page.")
    return f'<figure><div class="chart" id="chart-{name}" role="img" aria-label="{described}"></div></figure>'


def _curves(data: xr.Dataset) -> str:
    names = (*panels.fixed_candidates(data), UNINFORMATIVE)
    borders = {"solid": "solid", "dash": "dashed", "dot": "dotted"}
    marks = (
        f'<span style="border-top-style: {borders[LINES[name][1]]}; border-top-color: {LINES[name][0]}"></span>'
        f"{panels.name_of(data, name)}"
        for name in names
    )
    figures = (_chart(c.factor, f"Mean regret against {axis_label(c.factor, data.attrs)}") for c in panels.curves(data))
    return (
        "<p>Mean regret after as many decisions as chosen above, with 95 % bands; the other factors are as given.</p>\n"
        f'<ul class="key">{_items(marks)}</ul>\n<div class="charts">{"".join(figures)}</div>'
    )


def _survivors(test: StressTest) -> str:
    """Return a table of mean regret at the horizon, a row for each corner at which surviving beliefs were played."""
    data, corners = test.data, panels.corners(test.data)
    if not corners:
        return "<p>They were not played in this test.</p>"
    horizon, settings = int(data["time"].values[-1]), panels.settings(data)
    found = {(row.candidate, Setting(*row[1:5])): row for row in test.rows if row.time == horizon}
    others = [name for name in FIXED if name != data.attrs["candidate"]]  # the candidate itself is the one held fixed
    names = [name for name in (HELD, *SURVIVORS, *others, *REFERENCES) if any(name == of for of, _ in found)]
    rows = [
        [", ".join(changes(settings[j])), *(_interval(found.get((name, settings[j]))) for name in names)]
        for j in corners
    ]
    heads = ["the prior", *(panels.name_of(data, name) for name in names)]
    return (
        "<p>Elimination keeps several beliefs and drops those the data speak against; refitting learns length and "
        f"variance as data arrive. Mean regret after {horizon:,} decisions, with 95 % intervals; the prior held fixed "
        f"is your policy in just the runs of these two:</p>\n{_table(heads, rows, 'Mean regret at the corners', 'fit')}"
    )


def _interval(row: Row | None) -> str:
    if row is None:
        return number(np.nan)
    mean, low, high = (number(x) for x in (row.mean, row.low, row.high))
    return f"{mean} ({low} to {high})" if np.isfinite(row.low) else mean


def _about(data: xr.Dataset) -> str:
    about = data.attrs
    rows = {
        "policy": short(str(about["policy"])),
        "truth": about["truth"],
        "horizon": f"{int(about['horizon']):,} decisions",
        "runs": f"{int(about['runs']):,} of each candidate at each setting; fewer of the surviving beliefs",
        "settings": f"{data.sizes['setting']:,}",
        "seed": about["seed"],
        "version": f"corrbandits {about['version']}",
        "bands": "95 % t-intervals of the mean over runs; every run lists the arms in an order of its own, since of "
        "arms that look alike the first is taken",
    }
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{escape(str(text))}</dd>" for name, text in rows.items()) + "</dl>"


def _numbers(table: str) -> str:
    header, *rows = csv.reader(io.StringIO(table))
    link = f"data:text/csv;charset=utf-8;base64,{base64.b64encode(table.encode()).decode()}"
    return (
        f'<p><a href="{link}" download="stress.csv">Download the table (CSV)</a></p>\n'
        f"<details><summary>Show all {len(rows):,} rows</summary>\n"
        f"{_table(header, [[_short(cell) for cell in row] for row in rows], 'Every number')}\n</details>"
    )


def _short(cell: str) -> str:
    """Return a number in six digits, and any other text as it is."""
    try:
        return number(float(cell), 6)
    except ValueError:
        return cell


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], name: str, kind: str = "all") -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in header)
    labels = [f' data-head="{escape(text)}"' if kind == "fit" else "" for text in header]  # shown on narrow screens
    cells = ("".join(f"<td{of}>{escape(text)}</td>" for of, text in zip(labels, row, strict=True)) for row in rows)
    body = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">\n'
        f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
    )
