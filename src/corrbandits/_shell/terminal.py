"""Tables and text for a terminal: every name as it is written, whatever signs it has."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 80
"""The columns of text that is made for no terminal in particular."""

PIPED = 120
"""The columns of what is printed into a file or a pipe."""

_PLAIN = str.maketrans({"±": "+-", "·": ".", "░": ":", "▒": "+", "▓": "%", "█": "@", "…": "..."})


def table(headings: Iterable[str], rows: Iterable[Sequence[str]], left: int = 1, **options: Any) -> Table:
    """Return a table; the first `left` columns, of text, are set to the left and fold, the others to the right."""
    from rich import box
    from rich.table import Table

    made = Table(title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, **options)
    for k, heading in enumerate(headings):
        made.add_column(heading, justify="left" if k < left else "right", overflow="fold", no_wrap=k >= left)
    for row in rows:
        made.add_row(*row)
    return made


def console(file: Any = None, *, width: int | None = None, colour: bool = True) -> Console:
    """Return a console that takes nothing in a text for markup, an emoji or a number to be coloured."""
    from rich.console import Console

    if width is None and not (file or sys.stdout).isatty():
        width = PIPED
    system: Any = "auto" if colour else None
    return Console(file=file, width=width, color_system=system, markup=False, emoji=False, highlight=False)


def text(parts: Iterable[Any], width: int = WIDTH) -> str:
    """Return as text, without colours, what would be printed.

    >>> print(text([table(("arm", "mean"), [("[red]x", "3.1")])]))
    arm      mean
    ─────────────
    [red]x    3.1
    """
    file = io.StringIO()
    show(parts, console(file, width=width, colour=False))
    return file.getvalue().removesuffix("\n")


def say(sentences: Iterable[str]) -> None:
    """Print sentences, each on a line of its own: for a terminal it is folded between words, a pipe has it whole."""
    for sentence in sentences:
        if _fits(sentence):  # then rich, which takes long to load, has nothing to do
            sys.stdout.write(_writable(sentence, sys.stdout.encoding or "utf-8") + "\n")
        else:
            out = console()
            out.print(_writable(sentence, out.encoding))


def _fits(sentence: str) -> bool:
    """Return whether a sentence is printed as it is: into a pipe, or where it fits even if all letters are wide."""
    return not sys.stdout.isatty() or 2 * len(sentence) <= shutil.get_terminal_size().columns


def show(parts: Iterable[Any], where: Console) -> None:
    """Print parts one after another; where blocks cannot be written, other signs stand for them."""
    with where.capture() as captured:
        for part in parts:
            where.print(part)
    lines = _writable(captured.get(), where.encoding).splitlines()
    where.file.write("".join(f"{line.rstrip(' ')}\n" for line in lines))


def _writable(text: str, encoding: str) -> str:
    """Return a text with plain signs for those that cannot be written."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    return text
