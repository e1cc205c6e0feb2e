"""A progress bar with the time left, for long work that a person watches."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PATIENCE_SECONDS = 1.0


@contextmanager
def bar(
    total: int, wanted: bool | None = None, label: str = "simulating", before: int = 0
) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with how much is done; it draws on standard error, and only once the work is long.

    `wanted` is None for "if a person watches", True for "in any case" and False for "never". `before` is how much
    was done already.
    """
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda _: None
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
