"""Measure, print one table, and with --out write the page, its data and its plots."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.threads import ONE_THREAD

BEFORE = dict(os.environ)
os.environ.update(ONE_THREAD)

from benchmarks import report, sections  # noqa: E402
from benchmarks.report import Row  # noqa: E402
from benchmarks.timing import load, machine, tell  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything works")
    parser.add_argument("--without-scale", action="store_true", help="leave out many arms and the bounds")
    parser.add_argument("--out", type=Path, metavar="DIRECTORY", help="write page, data and plots, such as to docs")
    parser.add_argument("--again", action="store_true", help="measure nothing: write from docs/performance.json")
    options = parser.parse_args()
    if options.again:
        data = json.loads((report.DOCS / "performance.json").read_text(encoding="utf-8"))
    else:
        data = measure(sections.QUICK if options.quick else sections.Sizes(), scale=not options.without_scale)
    print(report.printed(data), flush=True)
    if options.out:
        report.save(data, options.out)
    if not (options.quick or options.again or options.without_scale):
        subprocess.run([sys.executable, Path(__file__).parent / "bounds.py"], check=True, env=BEFORE)


def measure(sizes: sections.Sizes, *, scale: bool) -> dict[str, object]:
    """Return everything that is measured."""
    before, rows = load(), []
    with tempfile.TemporaryDirectory() as built:
        parts: list[Callable[[], Iterable[Row]]] = [
            lambda: sections.as_printed(sizes, Path(built)),
            lambda: sections.growth(sizes),
            lambda: sections.plain(sizes),
            lambda: sections.distinct(sizes),
            lambda: sections.threads(sizes),
            lambda: sections.unrelated(sizes),
        ]
        if scale:
            parts.append(lambda: sections.many_arms(sizes))
        for part in parts:
            rows.extend(part())
    tell("")
    titles = {row.section: sections.title(row.section) for row in rows}
    return report.as_data(rows, titles, (before, load()), machine())


if __name__ == "__main__":
    main()
