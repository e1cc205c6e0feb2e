"""The shells and the files they load: escaped, small, without inline script or style, for good."""

import gzip
import itertools
import re
from importlib import resources

import pytest

from corrbandits.web.page import pages

NASTY = '"><script>alert(1)</script>'
VIEWS = ("today", "map", "progress", "history")


@pytest.mark.parametrize("template", VIEWS)
def test_the_name_of_a_study_is_escaped(template):
    shown = pages.rendered(template, "", title="x", view="", study=NASTY)
    assert "<script>alert" not in shown
    assert "&lt;script&gt;" in shown


@pytest.mark.parametrize("template", [*VIEWS, "studies", "new", "signin"])
def test_shells_hold_no_script_and_no_style(template):
    view = "" if template in VIEWS else None
    shown = pages.rendered(template, "/field", title="x", view=view, study="meadow" if template in VIEWS else None)
    assert re.findall(r"<script(?![^>]*\bsrc=)", shown) == []
    assert re.findall(r"<style|\sstyle=|\son\w+=|javascript:", shown) == []
    assert f'src="/field/static/{pages.version()}/{template}.js"' in shown


def test_every_address_in_a_file_is_ours():
    for name, content in pages.files().items():
        found = set(re.findall(r"https?://[^\s\"')]+", content.decode()))
        assert found <= {"http://www.w3.org/2000/svg"}, name


@pytest.mark.parametrize("template", [*VIEWS, "studies", "new", "signin"])
def test_a_view_loads_less_than_60_kb_of_script(template):
    assert sum(len(pages.files()[name]) for name in pages.scripts(f"{template}.js")) < 60_000


def test_all_scripts_together_are_sent_in_less_than_50_kb():
    scripts = [content for name, content in pages.files().items() if name.endswith(".js")]
    assert sum(len(gzip.compress(content)) for content in scripts) < 50_000


def test_scripts_are_sent_without_comments_and_otherwise_as_they_are():
    for name, sent in pages.files().items():
        source = resources.files(pages.__package__).joinpath("static", name).read_text(encoding="utf-8").splitlines()
        if name.endswith(".js"):
            pairs = list(itertools.zip_longest(sent.decode().splitlines(), source))
            for line, before in pairs:
                alone = before.lstrip().startswith(("//", "/*", "* ", "*/"))
                statement, _, comment = before.partition(" // ")
                assert line == ("" if alone else statement.rstrip() if comment else before), name
                assert not any(statement.count(quote) % 2 for quote in '"`' if comment), name  # no part of a text
            assert not any(line.lstrip().startswith(("//", "/*")) or " // " in line for line, _ in pairs)


def test_each_script_is_loaded_by_some_view():
    assert "chart.js" in pages.files()["map.js"].decode()  # loaded where sites lie on a line
    every = set().union(*(pages.scripts(f"{view}.js") for view in (*VIEWS, "studies", "new", "signin")))
    assert every | {pages.WORKER} == {name for name in pages.files() if name.endswith(".js")}


def test_a_browser_is_told_at_once_of_all_scripts_of_a_view():
    shown = pages.rendered("map", "", title="x", view="map", study="meadow")
    told = re.findall(r'rel="modulepreload" href="/static/\w+/(\w+\.js)"', shown)
    assert sorted(told) == sorted(pages.scripts("map.js"))
    assert len(told) > 5
