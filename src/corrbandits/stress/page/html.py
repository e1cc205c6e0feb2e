"""The page of a stress test: one HTML file that holds everything it shows and asks nobody for anything."""

from __future__ import annotations

import ast
import dataclasses
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from corrbandits._shell import ratios
from corrbandits._shell.numbers import counted, number
from corrbandits._shell.page.html import (
    about,
    asset,
    chart,
    choice,
    document,
    every_number,
    items,
    said,
    section,
    table,
)
from corrbandits.policies import RULES
from corrbandits.stress import panels
from corrbandits.stress.change import NOT_PLAYED, drifts
from corrbandits.stress.findings import HELPS, HURTS, NEITHER, TIE
from corrbandits.stress.names import FIXED, HELD, REFERENCES, SURVIVORS, UNINFORMATIVE, axis_label, changes
from corrbandits.stress.page.charts import LINES, chart_data
from corrbandits.stress.settings import DRIFT, Setting

if TYPE_CHECKING:
    import xarray as xr

    from corrbandits.stress.findings import Row
    from corrbandits.stress.result import StressTest

TITLE = "What a wrong prior costs"
EXPLAINED = {"printed": " (as in the paper)", "plain": " (without the factor of correlation)"}


def render(test: StressTest, name: str = "") -> str:
    """Return the report of a stress test as one HTML file, headed by a name; the same test gives the same page."""
    data, figures = test.data, chart_data(test)
    title = f"{name}: {TITLE[0].lower()}{TITLE[1:]}" if name else TITLE
    parts = [
        f"<p>A stress test of {escape(short(str(data.attrs['policy'])))}.</p>",
        section("In short", said(test.sentences())),
        section("Where the prior helps and where it hurts", _maps(data, figures["limit"])),
        section("One factor at a time", _curves(data)),
        section("Beliefs that survive a bad prior", _survivors(test)),
        section("How it was computed", _about(data)),
        section("Every number", every_number(test.to_csv(), "stress.csv")),
    ]
    return document(title, parts, figures, asset(__package__, "page.js"))


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


def _maps(data: xr.Dataset, most: float) -> str:
    names, times = panels.fixed_candidates(data), [str(t) for t in data["time"].values.tolist()]
    figures = [
        chart(grid.name, f"Heat map of {axis_label(grid.up, data.attrs)} against {axis_label(grid.across, data.attrs)}")
        for grid in panels.pair_grids(data)
    ]
    explained = EXPLAINED if len(names) > 1 else {}
    choices = [(name, f"{panels.name_of(data, name)}{explained.get(name, '')}") for name in names]
    stops, reach = ", ".join(ratios.COLOURS), number(most, 2)
    return (
        "<p>Each cell is a prior made wrong on purpose. Its number and colour say how its mean regret compares with "
        f"that of the uninformative prior: below {number(1 - TIE)} it {HELPS}, above {number(1 / (1 - TIE))} it "
        f"{HURTS}, and in between it {NEITHER}. The black line parts the cells where it hurts from the others; "
        "the dotted frame is the prior as given."
        "</p>\n"
        + choice("candidate", "Policy", choices, str(data.attrs.get("candidate", names[0])))
        + choice("time", "After how many decisions", [(t, f"{int(t):,}") for t in times], times[-1])
        + f'\n<div class="scale"><div style="background: linear-gradient(to right, {stops})"></div>'
        f"<p><span>1/{reach}: {HELPS}</span><span>1: break-even</span><span>{reach}: {HURTS}</span></p></div>\n"
        f'<p id="now" aria-live="polite"></p>\n<noscript><p>The figures need JavaScript; all numbers are in the table '
        f'at the end.</p></noscript>\n<div class="charts">{"".join(figures)}</div>'
    )


def _curves(data: xr.Dataset) -> str:
    names = (*panels.fixed_candidates(data), UNINFORMATIVE)
    borders = {"solid": "solid", "dash": "dashed", "dot": "dotted"}
    marks = (
        f'<span style="border-top-style: {borders[LINES[name][1]]}; border-top-color: {LINES[name][0]}"></span>'
        f"{panels.name_of(data, name)}"
        for name in names
    )
    figures = (chart(c.factor, f"Mean regret against {axis_label(c.factor, data.attrs)}") for c in panels.curves(data))
    return (
        "<p>Mean regret after as many decisions as chosen above, with 95 % bands; the other factors are as given.</p>\n"
        f'<ul class="key">{items(marks)}</ul>\n<div class="charts">{"".join(figures)}</div>'
    )


def _survivors(test: StressTest) -> str:
    """Return a table of mean regret at the horizon, a row for each corner at which surviving beliefs were played."""
    data, corners = test.data, panels.corners(test.data)
    if not corners:
        return f"<p>{NOT_PLAYED if drifts(data.attrs) else 'They were not played in this test.'}</p>"
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
        f"variance as data arrive. Mean regret after {counted(horizon, 'decision')}, with 95 % intervals; the prior "
        "held fixed is your policy in just the runs of these "
        f"two:</p>\n{table(heads, rows, 'Mean regret at the corners', 'fit')}"
    )


def _interval(row: Row | None) -> str:
    if row is None:
        return number(np.nan)
    mean, low, high = (number(x) for x in (row.mean, row.low, row.high))
    return f"{mean} ({low} to {high})" if np.isfinite(row.low) else mean


def _about(data: xr.Dataset) -> str:
    of = data.attrs
    fewer = "; fewer of the surviving beliefs" if {*SURVIVORS} & {*data["candidate"].values.tolist()} else ""
    rows = {
        "policy": short(str(of["policy"])),
        **({"prior": f"drifts with a scale of {number(of[DRIFT])} decisions"} if drifts(of) else {}),
        "truth": of["truth"],
        "horizon": counted(int(of["horizon"]), "decision"),
        "runs": f"{int(of['runs']):,} of each candidate at each setting{fewer}",
        "settings": f"{data.sizes['setting']:,}",
        "seed": of["seed"],
        "version": f"corrbandits {of['version']}",
        "bands": "95 % t-intervals of the mean over runs; every run lists the arms in an order of its own, since of "
        "arms that look alike the first is taken",
    }
    return about({name: str(text) for name, text in rows.items()})
