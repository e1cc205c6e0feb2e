"""The tables of the documents: every test that they cite calls the code cited beside it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.calls import CALLS, codes_of, references_in

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "docs/theory-and-errata.md")
HEAD = "| paper | code | test |\n|---|---|---|\n"


def rows(page):
    """What a page's table cites: the paper's part, references to code, names of tests."""
    table = (ROOT / page).read_text(encoding="utf-8").split(HEAD)[1]
    for paper, code, test in re.findall(r"^\|(.+)\|(.+)\|(.+)\|$", table, re.MULTILINE):
        yield paper.strip(), references_in(code), re.findall(r"`(\w+)`", test)


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """Which of all cited code each of the cited tests calls, by running them."""
    cited = [row for page in PAGES for row in rows(page)]
    names = {name: [] for _, _, tests in cited for name in tests}
    for _, references, tests in cited:
        for name in tests:
            names[name] += references
    wanted = tmp_path_factory.mktemp("calls") / "wanted.json"
    wanted.write_text(json.dumps(names), encoding="utf-8")
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")}
    files = [str(path) for path, text in sources.items() if any(f"def {name}(" in text for name in names)]
    options = ["-q", "-n", "0", "-p", "tests.support.calls", "-p", "no:cacheprovider", "-k", " or ".join(names)]
    environment = {**os.environ, CALLS: str(wanted)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return json.loads(wanted.with_suffix(".seen").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_cited_test_calls_the_code_cited_beside_it(page, calls):
    without = [
        f"{paper}: {reference}"
        for paper, references, tests in rows(page)
        for reference in references
        if not any(reference in calls.get(name, []) for name in tests)
    ]
    assert without == []
    idle = [name for _, references, tests in rows(page) for name in tests if not {*calls[name]} & {*references}]
    assert idle == []


def test_what_documents_cite_has_code():
    for page in PAGES:
        for paper, references, _ in rows(page):
            assert references, paper
            for reference in references:
                assert codes_of(reference)[0], reference


def test_a_reference_to_findings_is_one_for_each():
    assert references_in("`paper.errata.ERRATA` (9, 21), `theory.beta`") == [
        "paper.errata.ERRATA#9",
        "paper.errata.ERRATA#21",
        "theory.beta",
    ]
    assert len(references_in("`paper.errata.ERRATA`")) > 17
