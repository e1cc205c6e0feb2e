"""One time beside another that it may exceed so many times: a table of such pairs, and a page that shows it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from benchmarks.report import duration, keep, kept, marked, measured_on, number
from benchmarks.timing import load, machine


@final
@dataclass(frozen=True)
class Beside:
    """What is compared, how many times the one the other may take, and where that is shown."""

    what: str
    one: str
    other: str
    most: float
    data: str
    page: str
    mark: str

    def data_of(self, rows: list[dict[str, Any]], before: float) -> dict[str, Any]:
        """Return rows of `what`, `one` and `other`, the latter in seconds, with what they were measured on."""
        return {"machine": machine(), "load": [before, load()], "rows": rows}

    def table(self, data: dict[str, Any]) -> str:
        """Return the table; nothing if nothing was measured."""
        if not data["rows"]:
            return ""
        lines = [
            f"| {self.what} | {self.one} | {self.other} | times | at most {self.most:g} |",
            "|---|--:|--:|--:|---|",
        ]
        for row in data["rows"]:
            times = row["other"] / row["one"]
            cells = [row["what"], duration(row["one"]), duration(row["other"]), number(times)]
            lines.append(f"| {' | '.join(cells)} | {'yes' if times <= self.most else 'no'} |")
        return "\n".join([*lines, "", measured_on(data)])

    def shown(self, text: str, data: dict[str, Any]) -> str:
        """Return the page with its table made anew."""
        return marked(text, self.mark, self.table(data))

    def kept(self) -> dict[str, Any]:
        """Return what was measured for the documentation; no rows before it was."""
        return kept(self.data)

    def save(self, data: dict[str, Any], directory: Path) -> None:
        """Write the data and the page into a directory, the documentation's or another."""
        keep(data, directory, self.data, self.page, self.mark, self.table(data))


def options(prog: str, about: str) -> argparse.Namespace:
    """Return what is asked for on the command line: `quick`, and `out` or None."""
    parser = argparse.ArgumentParser(prog=prog, description=about)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything works")
    parser.add_argument("--out", type=Path, metavar="DIRECTORY", help="write data and page, such as to docs")
    return parser.parse_args()
