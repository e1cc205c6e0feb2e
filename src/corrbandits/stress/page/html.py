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
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from corrbandits.policies import RULES
from corrbandits.stress import panels
from corrbandits.stress.page.charts import LINES, charts, key

if TYPE_CHECKING:
    import xarray as xr

TITLE = "What a wrong prior costs"
EXPLAINED = {"printed": " (as in the paper)", "plain": " (without the factor of correlation)"}
STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #1a1a1a; font: 1.05rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 78rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.4rem; margin: 2.2rem 0 0.5rem; }
h3 { font-size: 1.05rem; margin: 0 0 0.3rem; }
p, ul.said li { max-width: 48rem; }
.first { font-size: 1.6rem; line-height: 1.35; margin: 0.6rem 0; }
ul.said { font-size: 1.2rem; line-height: 1.45; padding-left: 1.3rem; }
ul.said li { margin: 0.4rem 0; }
fieldset { border: 1px solid #8a8a8a; border-radius: 0.4rem; margin: 0.5rem 0; padding: 0.3rem 0.8rem; min-width: 0; }
fieldset label { display: inline-block; margin-right: 1.2rem; padding: 0.25rem 0; }
input:focus-visible, a:focus-visible, summary:focus-visible, .scroll:focus-visible { outline: 3px solid #0b3c6f; }
.charts { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
figure { margin: 0; min-width: 0; overflow-x: auto; }
.chart { width: 100%; min-width: 17rem; }
.scale { max-width: 40rem; margin: 0.8rem 0; }
.scale div { height: 1rem; border: 1px solid #555; }
.scale p { display: flex; justify-content: space-between; margin: 0.15rem 0; }
.key { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.2rem 1.6rem; }
.key span { display: inline-block; width: 2.2rem; vertical-align: middle; margin-right: 0.5rem; border-top-width: 3px; }
.scroll { overflow: auto; max-height: 32rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.95rem; overflow-wrap: normal; }
th, td { padding: 0.3rem 0.7rem; border-bottom: 1px solid #cfcfcf; text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { position: sticky; top: 0; background: #f2f2f2; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: 0.3rem 1.2rem; }
dt { font-weight: 600; } dd { margin: 0; }
a { color: #0b3c6f; } summary { cursor: pointer; padding: 0.4rem 0; }
"""
SCRIPT = """
"use strict";
const shown = JSON.parse(document.getElementById("numbers").textContent);
const options = {responsive: true, displayModeBar: false};
const chosen = (name) => document.querySelector(`input[name="${name}"]:checked`).value;
const copy = (value) => JSON.parse(JSON.stringify(value));
function draw() {
  const candidate = chosen("candidate"), time = chosen("time");
  const figures = {...shown.maps[candidate][time], ...shown.curves[time]};
  for (const [name, traces] of Object.entries(figures)) {
    Plotly.react("chart-" + name, copy(traces), copy(shown.layouts[name]), options);
  }
  document.getElementById("now").textContent = shown.said[candidate][time];
}
addEventListener("resize", () => document.querySelectorAll(".chart").forEach((chart) => Plotly.Plots.resize(chart)));
for (const input of document.querySelectorAll("input[type=radio]")) input.addEventListener("change", draw);
draw();
"""


class Told(Protocol):
    """What the page needs of a stress test."""

    @property
    def data(self) -> xr.Dataset:
        """The regret by candidate, setting, run and time."""

    def sentences(self) -> Sequence[str]:
        """Return what was found, in words."""

    def to_csv(self) -> str:
        """Return the table of means and intervals."""


def page(test: Told) -> str:
    """Return the report of a stress test as one HTML file; the same test gives the same page."""
    from plotly.offline import get_plotlyjs

    data, library = test.data, get_plotlyjs().replace("\r\n", "\n")
    figures, table = charts(data), test.to_csv()
    parts = [
        f"<h1>{TITLE}</h1>\n<p>A stress test of {escape(short(str(data.attrs['policy'])))}.</p>",
        _section("In short", _said(test.sentences())),
        _section("Where the prior helps and where it hurts", _maps(data, figures["bound"])),
        _section("One factor at a time", _curves(data)),
        _section("Beliefs that survive a bad prior", _survivors(data)),
        _section("How it was computed", _about(data)),
        _section("Every number", _numbers(table)),
    ]
    scripts = [library, SCRIPT]
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{_policy(scripts)}\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{TITLE}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<main>\n" + "\n".join(parts) + "\n</main>\n"
        f'<script type="application/json" id="numbers">{embedded(figures)}</script>\n'
        + "".join(f"<script>{script}</script>\n" for script in scripts)
        + "</body>\n</html>\n"
    )


def embedded(value: Any) -> str:
    """Return a value as JSON that can stand between script tags.

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
    names, times = panels.fixed(data), [str(t) for t in data["time"].values.tolist()]
    figures = [
        _chart(key(grid), f"Heat map of {panels.label(data, grid.up)} against {panels.label(data, grid.across)}")
        for grid in panels.pair_grids(data)
    ]
    explained = EXPLAINED if len(names) > 1 else {}
    choices = [(name, f"{panels.name_of(data, name)}{explained.get(name, '')}") for name in names]
    stops, reach = ", ".join(panels.COLOURS), panels.number(most, 2)
    return (
        "<p>Each cell is a prior made wrong on purpose. Its number and colour say how its mean regret compares with "
        "that of the uninformative prior: below 1 the prior helps, above 1 it hurts. The black line is break-even; the "
        "dotted frame is the prior as given.</p>\n"
        + _choice("candidate", "Policy", choices, str(data.attrs.get("candidate", names[0])))
        + _choice("time", "After how many decisions", [(t, f"{int(t):,}") for t in times], times[-1])
        + f'\n<div class="scale"><div style="background: linear-gradient(to right, {stops})"></div>'
        f"<p><span>1/{reach}: helps</span><span>1: break-even</span><span>{reach}: hurts</span></p></div>\n"
        f'<p id="now" aria-live="polite"></p>\n<noscript><p>The figures need JavaScript; all numbers are in the table '
        f'at the end.</p></noscript>\n<div class="charts">{"".join(figures)}</div>'
    )


def _chart(name: str, words: str) -> str:
    described = escape(f"{words}. The numbers are in the table at the end of the page.")
    return f'<figure><div class="chart" id="chart-{name}" role="img" aria-label="{described}"></div></figure>'


def _curves(data: xr.Dataset) -> str:
    names = (*panels.fixed(data), panels.BASELINE)
    borders = {"solid": "solid", "dash": "dashed", "dot": "dotted"}
    marks = (
        f'<span style="border-top-style: {borders[LINES[name][1]]}; border-top-color: {LINES[name][0]}"></span>'
        f"{panels.name_of(data, name)}"
        for name in names
    )
    figures = (_chart(c.factor, f"Mean regret against {panels.label(data, c.factor)}") for c in panels.curves(data))
    return (
        "<p>Mean regret after as many decisions as chosen above, with 95 % bands; the other factors are as given.</p>\n"
        f'<ul class="key">{_items(marks)}</ul>\n<div class="charts">{"".join(figures)}</div>'
    )


def _survivors(data: xr.Dataset) -> str:
    """Return a table of mean regret at the horizon, a row for each corner at which surviving beliefs were played."""
    band, corners = panels.bands(data).isel(time=-1), panels.corners(data)
    if not corners:
        return "<p>They were not played in this test.</p>"
    names = [name for name in (*panels.FIXED, *panels.SURVIVORS, panels.BASELINE) if name in data["candidate"].values]
    rows = [
        [", ".join(panels.words(data, corner)), *(_interval(band.sel(candidate=n).isel(setting=corner)) for n in names)]
        for corner in corners
    ]
    table = _table(
        ["the prior", *(panels.name_of(data, name) for name in names)], rows, "Mean regret at the corners", "fit"
    )
    horizon = int(data["time"].values[-1])
    return (
        "<p>Prior elimination keeps several beliefs and drops those the data speak against; refitting learns length "
        f"and variance as data come in. Mean regret after {horizon:,} decisions, with 95 % intervals:</p>\n{table}"
    )


def _interval(band: xr.Dataset) -> str:
    mean, low, high = (panels.number(float(band[name])) for name in ("mean", "low", "high"))
    return f"{mean} ({low} to {high})" if np.isfinite(band["low"]) else mean


def _about(data: xr.Dataset) -> str:
    about = data.attrs
    rows = {
        "policy": about["policy"],
        "truth": about["truth"],
        "horizon": f"{int(about['horizon']):,} decisions",
        "runs": f"{int(about['runs']):,} of each candidate at each setting; fewer of the surviving beliefs",
        "settings": f"{data.sizes['setting']:,}",
        "seed": about["seed"],
        "version": f"corrbandits {about['version']}",
        "bands": "95 % t-intervals of the mean over runs",
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
        return f"{float(cell):.6g}"
    except ValueError:
        return cell


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], name: str, kind: str = "all") -> str:
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in header)
    body = "\n".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">\n'
        f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
    )
