"""A progress bar with the time left, for long work that a person watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PATIENCE_SECONDS = 1.0
REDRAW_SECONDS = 0.2


@contextmanager
def bar(
    total: int, wanted: bool | None = None, label: str = "simulating", before: int = 0
) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with how much is done; it draws on standard error, and only once the work is long.

    `wanted` is None for "if a person watches", in a terminal or a notebook, True for "in any case" and False for
    "never". `before` is how much was done already.
    """
    notebook = "ipykernel" in sys.modules
    if wanted is False or (wanted is None and not notebook and not sys.stderr.isatty()):
        yield lambda _: None
        return
    if notebook:
        yield _in_notebook(total, label, before)
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    shown = Progress(*columns, console=Console(stderr=True), transient=True)
    task = shown.add_task(label, total=total, completed=before)
    started, begun = False, 0.0

    def show(done: int) -> None:
        nonlocal started, begun
        begun = begun or (time.monotonic() if done > before else 0.0)  # from the first step: compiling comes before
        if not started and begun and time.monotonic() - begun > PATIENCE_SECONDS:
            shown.start()
            started = True
        shown.update(task, completed=done)

    try:
        yield show
    finally:
        if started:
            shown.stop()


def _in_notebook(total: int, label: str, before: int) -> Callable[[int], None]:
    """Return a function that draws a bar below a cell, as HTML that needs no widgets."""
    from html import escape
    from importlib import import_module

    ipython = import_module("IPython.display")
    shown: Any = None
    begun = last = 0.0

    def show(done: int) -> None:
        nonlocal shown, begun, last
        now = time.monotonic()
        begun = begun or (now if done > before else 0.0)
        if not begun or now - begun < PATIENCE_SECONDS or (now - last < REDRAW_SECONDS and done < total):
            return
        left = (now - begun) / max(done - before, 1) * (total - done)
        words = f"{escape(label)} {done / max(total, 1):.0%}" + (f", about {left:.0f} s left" if done < total else "")
        drawn, last = ipython.HTML(f'<progress max="{total}" value="{done}"></progress> {words}'), now
        if shown is None:
            shown = ipython.display(drawn, display_id=True)
        else:
            shown.update(drawn)

    return show
