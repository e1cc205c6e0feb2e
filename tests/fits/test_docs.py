"""The page on people: its command prints what it says, and its numbers are those of the file beside it."""

import doctest
import json
import re

import numpy as np
import pytest
from matplotlib.image import imread

from corrbandits import plots
from tests.support import ROOT, script
from tests.support.commands import corrbandits

PEOPLE = script("docs/people.py")
PAGE = (ROOT / "docs" / "people.md").read_text(encoding="utf-8")
DATA = json.loads((ROOT / "docs" / "people.json").read_text(encoding="utf-8"))


def test_the_command_prints_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = PAGE.split("```python\n")[1].split("```")[0]
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert runner.run(doctest.DocTestParser().get_doctest(made, {}, "people.md", None, 0)).failed == 0
    command, said = re.search(r"^```text\n\$ corrbandits (.*?)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL).groups()
    done = corrbandits(*command.split(), cwd=tmp_path, env={"COLUMNS": "100", "PATH": ""})
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == said.split()
    for name in re.findall(r"`(choices-fit\S*?\.\w+)`", PAGE):
        assert (tmp_path / "results" / name).exists()


def test_the_page_shows_what_was_found():
    assert PEOPLE.written(PAGE, PEOPLE.report(DATA)) == PAGE, "run: python docs/people.py"


@pytest.mark.parametrize("name", ["people-study.png", "people-rules.png", "people-prior.png"])
def test_the_pictures_are_drawn_from_the_same_numbers(name, tmp_path):
    plots.save(PEOPLE.pictures(DATA)[name], tmp_path / name)
    drawn, kept = imread(tmp_path / name), imread(ROOT / "docs" / name)
    assert drawn.shape == kept.shape
    assert np.abs(drawn - kept).mean() < 0.01  # another build of the same fonts may shift a pixel


def test_what_is_kept_are_all_people_under_all_models():
    for name, number in (("on a line", 81), ("on a grid", 80)):
        found = PEOPLE.read(DATA[name])
        assert set(found) == {*PEOPLE.OF_THE_STUDY, *PEOPLE.OF_THE_PAPER[name]}
        assert {len(each) for each in found.values()} == {number}
        assert len(DATA[name]["surfaces"]) == number
        for model, each in found.items():
            left_out = PEOPLE.LEAVE_OUT[name] and model in PEOPLE.OF_THE_STUDY
            assert all(bool(one.predicted) == left_out for one in each)


def test_numbers_are_kept_and_read_again():
    for name in DATA:
        outcomes = [one for each in PEOPLE.read(DATA[name]).values() for one in each]
        assert PEOPLE.kept_numbers(outcomes, DATA[name]["surfaces"]) == DATA[name]
