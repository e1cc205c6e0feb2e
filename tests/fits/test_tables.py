"""People from files: the usual headings, other ones, and what is wrong named by its row."""

import numpy as np
import pytest

from corrbandits.fits.tables import Headings, read_people
from tests.support.choosers import somebody, table


@pytest.fixture
def written(tmp_path):
    def write(lines, name="choices.csv"):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


def test_what_is_written_is_read(written):
    people = [somebody(name) for name in (2, 10)]
    read = read_people(written(table(people)), Headings(), given=1)
    assert [person.name for person in read] == [2, 10]
    for one, other in zip(people, read, strict=True):
        for a, b in zip(one.rounds, other.rounds, strict=True):
            places = other.coordinates[b.arms]
            assert np.array_equal(one.coordinates[a.arms], places)
            assert b.rewards == pytest.approx(a.rewards, abs=0.005)
            assert b.given == 1


def test_other_headings_are_taken_if_they_are_usual_or_named(written):
    lines = table([somebody("Anna", rounds=6)])
    usual = ["Participant,Block,Trial,x,y,payoff", *lines[1:]]
    odd = ["who,r,n,east,north,gold", *lines[1:]]
    plain = read_people(written(lines), Headings(), given=1)
    for path, headings in (
        (written(usual, "usual.csv"), Headings()),
        (written(odd, "odd.csv"), Headings("who", "r", "n", ("east", "north"), "gold")),
    ):
        (anna,) = read_people(path, headings, given=1)
        assert np.array_equal(anna.rounds[0].arms, plain[0].rounds[0].arms)


def test_an_arm_is_an_index_and_another_file_says_where_arms_lie(written):
    choices = written(["person,trial,arm,reward", "a,1,0,5", "a,2,2,6", "b,1,1,4", "b,2,2,6"])
    without = read_people(choices, Headings())
    assert [person.coordinates for person in without] == [None, None]
    assert without[0].arms == 3
    arms = written(["x,y", "0,0", "0,5", "5,5", "9,9"], "arms.csv")
    people = read_people(choices, Headings(), arms=arms)
    assert people[0].coordinates.tolist() == [[0, 0], [0, 5], [5, 5], [9, 9]]
    assert people[1].rounds[0].arms.tolist() == [1, 2]


HEAD = "person,round,trial,x,y,reward"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([HEAD, "1,1,1,0,0,5", "1,1,2,0,1,lots"], "row 3: reward must be a finite number, got 'lots'"),
        ([HEAD, "1,1,1,0,0,5", "", "1,1,1,0,1,5"], "row 4: trial is there twice in round 1 of person 1"),
        ([HEAD, "1,1,1,0,0,5", "1,1,3,0,1,5"], "row 3: trial skips one in round 1 of person 1"),
        ([HEAD, "1,1,1,0,0,5", "1,1,2,0,,5"], "row 3: y must be a finite number"),
        ([HEAD, "1,1,1,0,0,5", ",1,2,0,0,5"], "row 3: person must say whose row it is, but it is empty"),
        (["person,round,trial,x,y", "1,1,1,0,0"], "must have a column for the reward, reward or outcome"),
        (["person,round,trial,reward", "1,1,1,0"], "must have a column for the arm, arm (an index from 0), or x and y"),
    ],
)
def test_what_is_wrong_is_named_by_its_row(written, lines, message):
    with pytest.raises(ValueError) as refused:
        read_people(written(lines), Headings())
    assert "choices.csv" in str(refused.value)
    assert message in str(refused.value)


def test_an_arm_off_the_grid_is_named_by_its_row(written):
    choices = written([HEAD, "1,1,1,0,0,5", "1,1,2,3,1,5"])
    arms = written(["x,y", "0,0", "0,1"], "arms.csv")
    with pytest.raises(ValueError, match=r"choices.csv, row 3: x, y must be those of an arm, but no arm lies there"):
        read_people(choices, Headings(), arms=arms)


def test_a_column_that_is_named_must_be_there(written):
    with pytest.raises(ValueError, match=r"must have a column for the horizon, left, got .* Name it with --horizon"):
        read_people(written([HEAD, "1,1,1,0,0,5"]), Headings(horizon="left"))


def test_a_name_of_digits_stays_what_it_is(tmp_path):
    """Participant 007 is looked up in other tables as 007, and is not 7."""
    path = tmp_path / "choices.csv"
    path.write_text("person,trial,arm,reward\n007,1,0,1\n007,2,1,1\n7,1,0,1\n7,2,1,1\n", encoding="utf-8")
    assert [person.name for person in read_people(path, Headings())] == ["007", "7"]


def test_somebody_who_made_no_choice_is_named_before_anybody_is_fitted(tmp_path):
    path = tmp_path / "choices.csv"
    path.write_text("person,trial,arm,reward\n1,1,0,1\n1,2,1,1\n2,1,0,1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="all trials of person 2 are given"):
        read_people(path, Headings(), given=1)


def test_a_message_on_a_very_wide_table_is_short(tmp_path):
    path = tmp_path / "choices.csv"
    path.write_text("\n".join([",".join(f"c{k}" for k in range(5000)), ",".join(["1"] * 5000)]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"c0, c1, .* and 4,988 others") as caught:
        read_people(path, Headings())
    assert len(str(caught.value)) < 400
