"""The benchmark of the page runs, and the documentation shows what it measured."""

import json
from pathlib import Path

from benchmarks import page as benchmark

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_page_is_measured(browser, tmp_path):
    data = benchmark.measured(browser, tmp_path, quick=True)
    assert len(data["rows"]) == 7
    assert all(0 < row["seconds"] < 60 for row in data["rows"])
    text = (DOCS / benchmark.PAGE).read_text(encoding="utf-8")
    made = benchmark.page(text, data)
    assert benchmark.table(data) in made
    assert benchmark.page(made, data) == made


def test_the_documentation_shows_what_was_measured():
    data = json.loads((DOCS / benchmark.DATA).read_text(encoding="utf-8"))
    text = (DOCS / benchmark.PAGE).read_text(encoding="utf-8")
    assert benchmark.page(text, data) == text
