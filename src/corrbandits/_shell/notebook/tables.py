"""Tables and headings as HTML that looks well in any notebook, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

CELL = "padding:0.15em 0.8em 0.15em 0;text-align:{};border:0;background:none"
LEFT, RIGHT = CELL.format("left"), CELL.format("right")


def block(title: str, *parts: str) -> str:
    """Return a heading and what stands below it; the title is text, the parts are HTML.

    >>> block("a < b", "<p>c</p>")
    '<div><p style="margin:0 0 0.4em"><b>a &lt; b</b></p><p>c</p></div>'
    """
    return f'<div><p style="margin:0 0 0.4em"><b>{escape(title)}</b></p>{"".join(parts)}</div>'


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts, the first column to the left and the others to the right."""
    head = "".join(f'<th scope="col" style="{_side(k)}">{escape(text)}</th>' for k, text in enumerate(heads))
    body = "".join(
        "<tr>" + "".join(f'<td style="{_side(k)}">{escape(text)}</td>' for k, text in enumerate(row)) + "</tr>"
        for row in rows
    )
    return (
        '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums;margin:0.3em 0">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _side(column: int) -> str:
    return RIGHT if column else LEFT
