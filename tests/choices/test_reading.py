"""People from tables: what is read, and what is wrong, named by row."""

import numpy as np
import pandas as pd
import pytest

from corrbandits import choices
from corrbandits.choices import Person, Round

TABLE = """id,block,trial,x,y,points,horizon
7,1,0,0,0,50,2
7,1,2,1,1,52.5,2
7,1,1,1,0,51,2
3,2,0,1,1,40,1
3,2,1,0,1,41,1
3,1,0,0,0,30,1
3,1,1,0,1,31,1
"""
COLUMNS = {"person": "id", "round": "block", "arm": ["x", "y"], "reward": "points"}


def read(text, tmp_path, **options):
    (tmp_path / "choices.csv").write_text(text, encoding="utf-8")
    return choices.read_csv(tmp_path / "choices.csv", **(COLUMNS | options))


def test_a_file_is_read_by_its_columns(tmp_path):
    ben, anna = read(TABLE, tmp_path, given=1, horizon="horizon")
    assert (ben.name, anna.name) == (3, 7)
    assert anna.coordinates.tolist() == [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    (played,) = anna.rounds
    assert played.arms.tolist() == [0, 2, 3]  # in the order of trials
    assert played.rewards.tolist() == [50.0, 51.0, 52.5]
    assert (played.given, played.choices, played.horizon) == (1, 2, 2)
    assert [each.rewards[0] for each in ben.rounds] == [30.0, 40.0]  # in the order of rounds


def test_arms_may_be_indices(tmp_path):
    table = pd.DataFrame({"person": "a", "round": 1, "trial": [1, 2], "arm": [2, 0], "reward": [1.0, 2.0]})
    assert choices.from_frame(table)[0].arms == 3
    assert choices.from_frame(table, arms=5)[0].arms == 5
    assert choices.from_frame(table, coordinates=[0.0, 1.0, 2.0, 3.0])[0].coordinates.shape == (4, 1)
    with pytest.raises(ValueError, match="row 0: arm must be an index from 0 to 1, but it is larger"):
        choices.from_frame(table, arms=2)


@pytest.mark.parametrize(
    ("line", "wrong", "complaint"),
    [
        (3, "7,1,2,1,1,lots,2", r"row 3: points must be a finite number, got 'lots'"),
        (3, "7,1,2,1,1,,2", r"row 3: points must be a finite number"),
        (3, "7,1,2,2,2,52,2", None),  # a larger grid
        (4, "7,1,2,1,0,51,2", r"row 4: trial is there twice in round 1 of person 7"),
        (3, "7,1,3,1,1,52,2", r"row 3: trial skips one in round 1 of person 7"),
        (3, "7,1,1.5,1,1,52,2", r"row 3: trial must be a whole number from 0"),
        (3, ",1,2,1,1,52,2", r"row 3: id must say whose row it is, but it is empty"),
        (3, "7,1,2,1,1,52,3", r"row 4: the horizon must be one number|row 3: the horizon must be one number"),
        (5, "3,2,0,1,1,40,0", r"row \d: the horizon must be"),
    ],
)
def test_what_is_wrong_is_named_by_its_row(tmp_path, line, wrong, complaint):
    lines = TABLE.splitlines()
    lines[line - 1] = wrong
    if complaint is None:
        assert read("\n".join(lines), tmp_path, given=1)[0].arms == 9
        return
    with pytest.raises(ValueError, match=complaint):
        read("\n".join(lines), tmp_path, given=1, horizon="horizon")


def test_arms_that_nobody_takes_are_said(tmp_path):
    """Counted from 1, or between others: either may be meant, and changes what every choice is worth."""
    table = pd.DataFrame({"person": "a", "round": 1, "trial": [1, 2], "arm": [1, 2], "reward": [1.0, 2.0]})
    with pytest.warns(UserWarning, match="nobody takes arm 0, but arms are counted from 0"):
        assert choices.from_frame(table)[0].arms == 3
    assert choices.from_frame(table, arms=3)[0].arms == 3  # who says how many there are is asked nothing
    with pytest.warns(UserWarning, match="with y between 1 and 9: it is left out"):
        (anna, *_) = read(TABLE.replace("7,1,2,1,1,", "7,1,2,1,9,"), tmp_path)
    assert anna.arms == 6
    irregular = TABLE.replace("7,1,2,1,1,", "7,1,2,1,2.7182,")
    assert read(irregular, tmp_path)[0].arms == 6


def test_a_mistyped_arm_does_not_make_a_million(tmp_path):
    table = pd.DataFrame({"person": "a", "round": 1, "trial": [1, 2], "arm": [0, 10**9], "reward": [1.0, 2.0]})
    with pytest.raises(ValueError, match="row 1: arm must be an index below 20,000"):
        choices.from_frame(table)
    t = np.arange(200)
    places = pd.DataFrame({"person": 1, "round": 1, "trial": t, "x": t**1.5, "y": np.sqrt(t), "reward": 1.0})
    with pytest.raises(ValueError, match="grid has 40,000 arms"):
        choices.from_frame(places, arm=["x", "y"])


def test_an_arm_off_the_grid_is_named_by_its_row(tmp_path):
    with pytest.raises(ValueError, match="row 3: x, y must be those of an arm, but no arm lies there"):
        read(TABLE, tmp_path, coordinates=[[0, 0], [1, 0], [0, 1]])


def test_a_table_without_a_column_says_which(tmp_path):
    with pytest.raises(ValueError, match="must have a column 'reward', got id, block, trial, x, y, points, horizon"):
        read(TABLE, tmp_path, reward="reward")
    with pytest.raises(ValueError, match="it has none"):
        read(TABLE.splitlines()[0] + "\n", tmp_path)
    with pytest.raises(ValueError, match="its round has 2 trials, but 3 are given in each"):
        read(TABLE, tmp_path, given=3)


def test_rounds_and_people_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="as many rewards as arms"):
        Round([0, 1], [1.0])
    with pytest.raises(ValueError, match="rewards must be finite"):
        Round([0, 1], [1.0, np.nan])
    with pytest.raises(ValueError, match="horizon must be at least 2"):
        Round([0, 1], [1.0, 2.0], horizon=1)
    with pytest.raises(ValueError, match="round 0 of person 'Anna' has 3"):
        Person([Round([3], [1.0])], arms=3, name="Anna")
    with pytest.raises(TypeError, match=r"needs coordinates=\.\.\., one row per arm, or arms="):
        Person([Round([0], [1.0])])
    with pytest.raises(TypeError, match="made by Round"):
        Person([([0], [1.0])], arms=2)
    with pytest.raises(ValueError, match="as many as the coordinates, 2, got 3"):
        Person([], coordinates=[0.0, 1.0], arms=3)
