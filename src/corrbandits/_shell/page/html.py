"""The parts of a page, and the page: one HTML file that holds everything it shows and asks nobody for anything."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from corrbandits._shell.numbers import number


def document(title: str, parts: Iterable[str], figures: Any, script: str) -> str:
    """Return a page of parts; the same arguments give the same page.

    `title` is text, the parts are HTML. The script defines `draw()`, which is called at the start and when another
    choice is made; in it, `shown` are the figures' data, `chosen(name)` is what is chosen, and
    `show(name, traces, layout)` draws a chart.
    """
    from plotly.offline import get_plotlyjs

    scripts = [get_plotlyjs().replace("\r\n", "\n"), f'"use strict";\n{script}{asset(__package__, "page.js")}']
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{_rules(scripts)}\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>\n{asset(__package__, 'page.css')}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join([f"<h1>{escape(title)}</h1>", *parts])
        + f'\n</main>\n<script type="application/json" id="numbers">{embedded(figures)}</script>\n'
        + "".join(f"<script>{each}</script>\n" for each in scripts)
        + "</body>\n</html>\n"
    )


def asset(package: str, name: str) -> str:
    """Return the text of a file that lies in a package.

    >>> asset("corrbandits._shell.page", "page.css").splitlines()[0]
    ':root { color-scheme: light; }'
    """
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def embedded(value: Any) -> str:
    """Return a value as JSON that can be written between script tags.

    >>> print(embedded({"name": "</script>"}).replace("u003c", "U"))  # doctest: +ELLIPSIS
    {"name": "...U/script..."}
    """
    text = json.dumps(value, allow_nan=False)
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")


def section(heading: str, content: str) -> str:
    """Return a section of a page."""
    return f"<section>\n<h2>{heading}</h2>\n{content}\n</section>"


def said(sentences: Sequence[str]) -> str:
    """Return what was found, the sentence to remember first and largest."""
    first, *others = (escape(sentence) for sentence in sentences)
    return f'<p class="first">{first}</p>\n<ul class="said">{items(others)}</ul>'


def items(texts: Iterable[str]) -> str:
    """Return the items of a list, each HTML."""
    return "".join(f"<li>{text}</li>" for text in texts)


def choice(name: str, legend: str, values: Sequence[tuple[str, str]], chosen: str) -> str:
    """Return buttons of which one is on, reached and moved by keys."""
    buttons = "".join(
        f'<label><input type="radio" name="{name}" value="{escape(value)}"{" checked" * (value == chosen)}> '
        f"{escape(text)}</label>"
        for value, text in values
    )
    return f"<fieldset><legend>{legend}</legend>{buttons}</fieldset>"


def chart(name: str, words: str, *, wide: bool = False) -> str:
    """Return the place of a figure, with what it shows in words; a wide one is moved sideways on narrow screens."""
    described = escape(f"{words}. The numbers are in the table at the end of the page.")
    kind = "chart wide" if wide else "chart"
    return f'<figure><div class="{kind}" id="chart-{name}" role="img" aria-label="{described}"></div></figure>'


def about(rows: Mapping[str, str]) -> str:
    """Return a list of names and what they are."""
    return "<dl>" + "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in rows.items()) + "</dl>"


def every_number(content: str, name: str) -> str:
    """Return a CSV table to download, and to look at."""
    header, *rows = csv.reader(io.StringIO(content))
    link = f"data:text/csv;charset=utf-8;base64,{base64.b64encode(content.encode()).decode()}"
    return (
        f'<p><a href="{link}" download="{escape(name)}">Download the table (CSV)</a></p>\n'
        f"<details><summary>Show all {len(rows):,} rows</summary>\n"
        f"{table(header, [[_short(cell) for cell in row] for row in rows], 'Every number')}\n</details>"
    )


def table(header: Sequence[str], rows: Iterable[Sequence[str]], name: str, kind: str = "all") -> str:
    """Return a table of texts; of the kind "fit", one whose rows stand below each other on narrow screens."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in header)
    labels = [f' data-head="{escape(text)}"' if kind == "fit" else "" for text in header]
    cells = ("".join(f"<td{of}>{escape(text)}</td>" for of, text in zip(labels, row, strict=True)) for row in rows)
    body = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">\n'
        f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
    )


def _rules(scripts: Iterable[str]) -> str:
    """Return the rule that only these scripts run and nothing is fetched from anywhere."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    rules = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
    return f"<meta http-equiv=\"Content-Security-Policy\" content=\"{rules}base-uri 'none'; form-action 'none'\">"


def _short(cell: str) -> str:
    """Return a number in six digits, and any other text as it is."""
    try:
        return number(float(cell), 6)
    except ValueError:
        return cell
