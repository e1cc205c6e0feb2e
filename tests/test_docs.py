"""The documents are executed: every snippet, every command, every picture, every row of the README's table."""

import doctest
import inspect
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from contextlib import contextmanager
from urllib.request import urlopen

import numpy as np
import pytest

import corrbandits as cb
from tests.support import ROOT, script
from tests.support.commands import PROGRAM, corrbandits

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page, language):
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


REFRESH = script("docs/refresh.py")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_snippets_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for text in blocks(page, "python"):
        assert ">>>" in text, "a snippet without a prompt is not executed"
    if page.name == REFRESH.MIRRORED:
        command = [sys.executable, "-m", "doctest", "-o", "NORMALIZE_WHITESPACE", str(page)]
        done = subprocess.run(command, env=os.environ | REFRESH.EVERYWHERE, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


SESSION = ROOT / "docs" / "ask-and-tell.md"


def from_docs(name):
    return script(f"docs/{name}.py")


def commands():
    for page in (page for page in PAGES if page != SESSION):
        for text in blocks(page, "console"):
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, expected = part.partition("\n")
                yield pytest.param(page, command, expected, id=f"{page.name}: {command}")


@pytest.mark.parametrize(("page", "command", "expected"), list(commands()))
def test_commands_print_what_they_say(page, command, expected, tmp_path):
    for text in blocks(page, "toml"):
        name = re.match(r"# (\S+)\n", text).group(1)
        (tmp_path / name).write_text(text)
    program, *arguments = shlex.split(command)
    assert program == "corrbandits"
    around = {**REFRESH.surroundings(page.name), "PATH": ""}
    if page.name == REFRESH.MIRRORED:  # by a process of its own: instructions are chosen when libraries are loaded
        done = subprocess.run([PROGRAM, *arguments], cwd=tmp_path, env=around, capture_output=True, text=True)
    else:
        done = corrbandits(*arguments, cwd=tmp_path, env=around)
    assert done.returncode == 0, done.stderr
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(expected, done.stdout, flags), done.stdout


@pytest.mark.slow
def test_the_session_with_a_study_goes_as_shown_to_the_second_persons_database(tmp_path, postgres):
    shown = [*from_docs("session").outputs(SESSION.read_text(encoding="utf-8"), tmp_path, postgres)]
    assert any("import meadow.jsonl" in command for command, *_ in shown)
    for command, expected, printed, code in shown:
        assert code == ("not yet enough" in printed), command
        assert _words(printed) == _words(expected), command


def _words(text):
    """Return the words of a text; lines in a table are as long as times are wide."""
    return re.sub("─+", "─", text).split()


def test_the_page_on_studies_begins_with_the_file_it_uses():
    lines = (ROOT / "docs" / "sites.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    assert "".join(lines[:3]) in blocks(SESSION, "text")


def test_help_fits_one_screen(tmp_path):
    done = corrbandits("--help", cwd=tmp_path, env={"COLUMNS": "80"})
    assert len(done.stdout.splitlines()) <= 24
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_every_command_is_documented():
    from corrbandits.cli.app import app

    documented = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    named = list(command_names(app))
    assert "study create" in named
    for name in named:
        assert f"$ corrbandits {name} --help" in documented


def command_names(app, before=""):
    for command in app.registered_commands:
        yield before + (command.name or command.callback.__name__)
    for group in app.registered_groups:
        yield before + group.name
        yield from command_names(group.typer_instance, f"{before}{group.name} ")


def test_every_public_name_is_documented_with_an_example():
    documented = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    abstract = {"Belief", "Environment", "Kernel", "Policy"}
    for name in cb.__all__:
        thing = getattr(cb, name)
        place = f"`cb.{name}`" if inspect.ismodule(thing) else f":: corrbandits.{name}\n"
        assert place in documented, name
        assert thing.__doc__, name
        if name not in abstract and not inspect.ismodule(thing):
            assert ">>>" in thing.__doc__, name


@pytest.mark.parametrize("page", ["README.md", "docs/theory-and-errata.md"])
def test_every_row_of_the_tables_points_at_code_and_tests_that_exist(page):
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    table = (ROOT / page).read_text(encoding="utf-8").split("| paper | code | test |\n|---|---|---|\n")[1]
    rows = re.findall(r"^\|(.+)\|(.+)\|(.+)\|$", table, re.MULTILINE)
    assert len(rows) > 10
    for _, code, test in rows:
        references, names = re.findall(r"`([\w.]+)`", code), re.findall(r"`(\w+)`", test)
        assert references
        assert names
        for reference in references:
            pkgutil.resolve_name(f"corrbandits.{reference}")
        for name in names:
            assert f"def {name}(" in sources, name


@pytest.mark.parametrize(
    "page",
    [
        "CONTRIBUTING.md",
        "docs/theory-and-errata.md",
        "docs/architecture.md",
        "docs/getting-started.md",
        "docs/honest-statements.md",
        "docs/change-studies.md",
    ],
)
def test_what_stands_between_marks_is_what_the_program_says(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert "<!-- end of " in text
    assert from_docs("refresh").with_parts(text) == text


def test_the_factor_costs_more_the_more_arms_are_correlated():
    factor = from_docs("factor")
    ratios = []
    for side, length in ((4, 1.0), (12, 30.0)):
        found = factor.regret(side, length, surfaces=6)
        ratios.append(found["printed"] / found["plain"])
    assert ratios[1] > max(1.5, ratios[0])


def test_the_page_on_change_says_what_its_figure_shows():
    """Of the data behind the figure: three standard errors, paired over paths where these are the same."""
    data = json.loads((ROOT / "docs" / "change.json").read_text(encoding="utf-8"))["lost"]
    told, untold, discounted = "Drifting, scale told", "Drifting, scale not told", "Discounted, 0.99"
    with_gittins, with_ucl = data["Gittins"], data["UCL"]
    assert [*with_gittins] == [*with_ucl] == [str(scale) for scale in from_docs("change").SCALES]
    for scale, lost in with_gittins.items():
        assert all(more(lost[name], lost[told]) > -3 for name in lost.keys() - {told}), scale
        assert np.mean(lost[untold]) < np.mean(lost[told]) + 0.1
    for scale in ("10", "30", "100", "300"):
        lost = with_gittins[scale]
        assert all(more(lost["stationary"], lost[name]) > 3 for name in lost.keys() - {"stationary"}), scale
    assert abs(more(with_gittins["100000"]["stationary"], with_gittins["100000"][told])) < 3
    for name in ("Windowed, 200", discounted):
        assert more(with_gittins["100000"][name], with_gittins["100000"]["stationary"]) > 3
    for scale in ("30", "100"):
        assert more(with_ucl[scale][told], with_ucl[scale][discounted]) > 3
        assert all(more_apart(lost, with_gittins[scale][told]) > 3 for lost in with_ucl[scale].values())


def more(one, other):
    """Return by how many standard errors one is more than the other, path by path."""
    apart = np.subtract(one, other)
    return apart.mean() / (apart.std(ddof=1) / np.sqrt(apart.size))


def more_apart(one, other):
    """Return by how many standard errors one is more than the other, on other paths."""
    error = np.hypot(*(np.std(each, ddof=1) / np.sqrt(len(each)) for each in (one, other)))
    return (np.mean(one) - np.mean(other)) / error


def test_the_figure_on_change_is_played_as_it_says():
    change = from_docs("change")
    lost = change.lost("Gittins", 30, path=0, horizon=300, names=change.NAMES[:2])
    assert lost["Drifting, scale told"] < lost["stationary"]


def test_the_readmes_commands_work_as_printed_in_a_clone(tmp_path):
    """All but `make`, which the tests run in: in one shell, in a folder that has what `make` leaves there."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    lines = [line for kind, text in fenced if not kind for line in text.splitlines() if not line.startswith("make ")]
    served = lines.pop()
    assert served.startswith("corrbandits serve --demo ")
    assert lines[0].startswith(". .venv/bin/activate")
    assert sum(line.startswith("corrbandits study ") for line in lines) == 4
    (tmp_path / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    (tmp_path / "docs").symlink_to(ROOT / "docs", target_is_directory=True)
    environment = {"HOME": str(tmp_path), "PATH": os.defpath}
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "env": environment}
    done = subprocess.run(["sh", "-e"], input="\n".join(lines), **options)
    assert done.returncode == 0, done.stderr
    assert "trial 1 (C2) told: 31.2" in done.stdout
    assert "Mean reward" in done.stdout
    command = f"{lines[0]}\nexec {served.partition('#')[0]} --port 0"
    with serving(command, tmp_path, environment) as address, urlopen(f"{address}api/v1/studies", timeout=60) as answer:
        assert {"meadow", "demo field"} <= {study["name"] for study in json.load(answer)["studies"]}


@contextmanager
def serving(command, directory, environment):
    """Run a command that serves until it is told to stop, on any port: another server may have the usual one."""
    said = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(["sh", "-ec", command], cwd=directory, env=environment, **said) as running:
        try:
            yield re.search(r"http://\S+", running.stdout.readline())[0]
        finally:
            running.terminate()
        assert running.wait(60) == 0


def test_nobody_is_told_to_install_a_package_by_a_name_that_is_not_published():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "src").rglob("*.py")]
    assert [
        page.name
        for page in pages
        if re.search(r"install [^\n]*corrbandits(\[|\b[^-.\w])", page.read_text(encoding="utf-8"))
    ] == []


def test_the_readme_is_under_two_screens():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 68


@pytest.mark.slow
def test_the_documentation_builds_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", ROOT / "docs", tmp_path],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "CorrelatedUCL" in (tmp_path / "api.html").read_text(encoding="utf-8")
