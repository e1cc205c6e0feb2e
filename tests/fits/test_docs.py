"""The page on people: its command prints what it says, and its numbers are those of the file beside it."""

import doctest
import itertools
import json
import re
import sys

import numpy as np
import pytest
from matplotlib.image import imread

from corrbandits import plots
from tests.support import ROOT, script
from tests.support.commands import corrbandits

PEOPLE = script("docs/people.py")
FITS, TABLES = PEOPLE.fits, sys.modules["explorers.tables"]
written = sys.modules["explorers.pages"].written
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
    assert written(PAGE, PEOPLE.MARK, PEOPLE.report(DATA)) == PAGE, "run: python docs/people.py"


@pytest.mark.parametrize("name", ["people-study.png", "people-rules.png", "people-prior.png"])
def test_the_pictures_are_drawn_from_the_same_numbers(name, tmp_path):
    plots.save(PEOPLE.pictures(DATA)[name], tmp_path / name)
    drawn, kept = imread(tmp_path / name), imread(ROOT / "docs" / name)
    assert drawn.shape == kept.shape
    assert np.abs(drawn - kept).mean() < 0.01  # another build of the same fonts may shift a pixel


@pytest.mark.parametrize(("name", "people"), [("on a line", 81), ("on a grid", 80)])
def test_what_is_kept_are_all_people_under_all_models_in_all_rounds_and_in_some(name, people):
    assert len(DATA[name]["surfaces"]) == people
    for part, models in (("all", FITS.MODELS), ("short", FITS.APART), ("long", FITS.APART)):
        found = FITS.read(DATA[name][part])
        assert set(found) == set(models)
        assert {len(each) for each in found.values()} == {people}
        assert all(np.isfinite(one.foreseen) for each in found.values() for one in each)
    made = {part: DATA[name][part][0][2] for part in FITS.PARTS}
    assert made["short"] + made["long"] == made["all"]


def test_numbers_are_kept_and_read_again():
    for one in DATA.values():
        for part in FITS.PARTS:
            outcomes = [each for several in FITS.read(one[part]).values() for each in several]
            assert FITS.kept_numbers(outcomes) == one[part]


def test_what_is_larger_in_long_rounds_is_counted_without_ties():
    """Two of three who differ: a coin shows that or more, either way, each time."""
    short, long = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 3.0, 3.0, 1.0])
    assert TABLES._sign(short, long) == "2 of 3 (p = 1)"


def test_a_small_table_is_fitted_in_all_its_parts(tmp_path):
    """Two people with a short and a long horizon, as the study writes them."""
    rng, rows = np.random.default_rng(0), ["id,scenario,kernel,round,env,horizon,scale,trial,x,y,z"]
    for person, (number, horizon) in itertools.product((1, 2), enumerate((3, 6, 3, 6), 1)):
        rows += [
            f"{person},0,{person - 1},{number},0,{horizon},70,{trial},{rng.integers(6)},0,{rng.integers(30, 90)}"
            for trial in range(horizon + 1)
        ]
    place = tmp_path / "small.csv"
    place.write_text("\n".join(rows) + "\n", encoding="utf-8")
    data = FITS.fitted(place, tmp_path, threads=1)
    assert (data["horizons"], data["surfaces"]) == ([3, 6], [0, 1])
    assert [len(data[part]) for part in FITS.PARTS] == [10, 8, 8]
    assert [data[part][0][2] for part in FITS.PARTS] == [18, 6, 12]
    assert FITS.fitted(place, tmp_path, threads=1) == data
