"""Tables, and pages that have a part between marks which is made from numbers."""

import json
from pathlib import Path

from corrbandits import plots

DOCS = Path(__file__).parents[1]


def table(heads, rows):
    """Return a table in Markdown: the first column to the left, the others to the right."""
    lines = [heads, ["---", *["--:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def written(page, mark, text):
    """Return a page with the text between its marks."""
    begin, end = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->\n"
    before, rest = page.split(begin)
    return f"{before}{begin}\n{text}\n\n{end}{rest.split(end)[1]}"


def write(out, page, mark, data, report, pictures):
    """Write a page and its pictures into a folder, from the numbers in a file there."""
    numbers = json.loads((out / data).read_text(encoding="utf-8"))
    text = (DOCS / page).read_text(encoding="utf-8")
    (out / page).write_text(written(text, mark, report(numbers)), encoding="utf-8")
    for name, figure in pictures(numbers).items():
        plots.save(figure, out / name)
