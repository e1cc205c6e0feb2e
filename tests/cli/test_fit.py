"""The command `corrbandits fit`."""

import csv

import pytest

from tests.support.choosers import somebody, table
from tests.support.commands import corrbandits


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    people = [somebody(name, rounds=2, horizon=6, seed=name) for name in (1, 2)]
    (folder / "choices.csv").write_text("\n".join(table(people)) + "\n", encoding="utf-8")
    return folder, corrbandits("fit", "choices.csv", "--given", "1", "--models", "greedy,independent", cwd=folder)


def test_it_writes_tables_a_page_and_figures_and_says_what_was_found(done):
    folder, said = done
    assert said.returncode == 0, said.stderr
    names = {path.name for path in (folder / "results").iterdir()}
    pictures = {f"choices-fit-{name}.{end}" for name in ("models", "parameters") for end in ("png", "pdf")}
    tables = {"choices-fit-people.csv", "choices-fit-models.csv", "choices-fit.html", "choices-fit.jsonl"}
    assert names == tables | pictures
    with (folder / "results" / "choices-fit-people.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["person"], row["choices"]) for row in rows] == [("1", "12"), ("2", "12")] * 2
    assert "of 2 people" in said.stdout
    assert "greedy" in said.stdout
    assert "choices: which model explains whom" in (folder / "results" / "choices-fit.html").read_text(encoding="utf-8")


def test_the_same_again_says_the_same_and_another_model_is_added(done):
    folder, said = done
    again = corrbandits("fit", "choices.csv", "--given", "1", "--models", "greedy,independent", cwd=folder)
    assert again.stdout == said.stdout
    lines = (folder / "results" / "choices-fit.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--models", "greedy,bayes"), "a model must be of correlated, independent, greedy"),
        (("--set", "noise=lots"), "--set must give a number or \"free\", got 'noise=lots'"),
        (("--kernel", "gauss"), "--kernel must be of exponential, squared_exponential"),
        (("--given", "40"), "choices.csv, row 2: its round has 7 trials, but 40 are given in each"),
        (("--reward", "gold"), "choices.csv must have a column for the reward, gold, got person, round"),
    ],
)
def test_a_slip_is_refused_with_what_to_do(asked, message, done):
    folder, _ = done
    said = corrbandits("fit", "choices.csv", *asked, "--out", "refused", cwd=folder)
    assert said.returncode == 2
    assert message in " ".join(said.stderr.split())
    assert not (folder / "refused").exists()


def test_a_model_that_needs_places_is_refused_where_there_are_none(tmp_path):
    lines = ["person,round,trial,arm,reward", *(f"1,{r},{t},{t % 2},{t}" for r in (1, 2) for t in range(5))]
    (tmp_path / "choices.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    said = corrbandits("fit", "choices.csv", "--models", "correlated", cwd=tmp_path)
    assert said.returncode == 2
    assert "columns x and y" in said.stderr
