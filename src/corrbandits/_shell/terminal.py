"""Tables and text for a terminal: every name as it is written, whatever characters it has."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from corrbandits._shell.texts import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 80
"""The columns of text that is made for no terminal in particular."""

PIPED = 120
"""The columns of what is printed into a file or a pipe."""

UNFOLDED = 1_000
"""More columns than any table has."""

_PLAIN = str.maketrans({"±": "+-", "·": ".", "░": ":", "▒": "+", "▓": "%", "█": "@", "…": "...", "–": "-", "∞": "inf"})


def table(headings: Iterable[str], rows: Iterable[Sequence[str]], left: int = 1, **options: Any) -> Table:
    """Return a table; the first `left` columns, of text, are set to the left and fold, the others to the right."""
    from rich import box
    from rich.table import Table

    made = Table(title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, **options)
    for k, heading in enumerate(headings):
        made.add_column(printable(heading), justify="left" if k < left else "right", overflow="fold", no_wrap=k >= left)
    for row in rows:
        made.add_row(*map(printable, row))
    return made


def console(file: Any = None, *, width: int | None = None, colour: bool = True) -> Console:
    """Return a console that prints text as it is: no markup, no emoji, no coloured numbers."""
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


def lines(part: Table) -> str:
    """Return a table as text that no width folds, for `str`."""
    return text([part], UNFOLDED)


def say(sentences: Iterable[str]) -> None:
    """Print sentences, each on its own line: folded between words on a terminal, whole in a file or a pipe."""
    for sentence in map(printable, sentences):
        if _fits(sentence):  # then rich, which takes long to load, has nothing to do
            sys.stdout.write(_writable(sentence, sys.stdout.encoding or "utf-8") + "\n")
        else:
            out = console()
            out.print(_writable(sentence, out.encoding))


def _fits(sentence: str) -> bool:
    """Return whether a sentence is printed as it is: into a pipe, or where it fits even if all letters are wide."""
    return not sys.stdout.isatty() or 2 * len(sentence) <= shutil.get_terminal_size().columns


def show(parts: Iterable[Any], where: Console) -> None:
    """Print parts one after another; characters that cannot be written are replaced."""
    with where.capture() as captured:
        for part in parts:
            where.print(printable(part) if isinstance(part, str) else part)
    lines = _writable(captured.get(), where.encoding).splitlines()
    where.file.write("".join(f"{line.rstrip(' ')}\n" for line in lines))


def _writable(text: str, encoding: str) -> str:
    """Return a text with plain characters for those that cannot be written."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN).encode(encoding, "replace").decode(encoding)
    return text
