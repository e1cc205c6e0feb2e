"""Why to go there, in one sentence."""

from types import SimpleNamespace

import numpy as np
import pytest

from corrbandits import Study
from corrbandits.web.page.why import sentence


@pytest.fixture
def study(tmp_path):
    arms = {"name": [f"{'ABCDEF'[x]}{y + 1}" for y in range(4) for x in range(6)]}
    arms |= {"x": [x for _ in range(4) for x in range(6)], "y": [y for y in range(4) for _ in range(6)]}
    with Study.create(f"{tmp_path}/survey.db", "meadow", arms=arms, rounds=40, unit="kg") as made:
        yield made


def told(study, number):
    rng = np.random.default_rng(1)
    for _ in range(number):
        trial = study.ask()
        study.tell(trial, round(20.0 + trial.arm % 6 + 0.3 * rng.standard_normal(), 2))


def why(study, trial):
    return sentence(study.explain(trial), study.snapshot())


def test_the_first_lies_in_the_middle_and_the_next_far_from_it(study):
    told(study, 2)
    assert why(study, 1) == "To begin with: it lies in the middle of all sites."
    assert why(study, 2) == "To see a part that nobody has measured yet: it lies far from what was tried."


def test_arms_that_lie_nowhere_lie_not_in_the_middle_nor_far(tmp_path):
    with Study.create(f"{tmp_path}/survey.db", "prices", arms={"name": ["low", "high"]}, rounds=40) as study:
        told(study, 2)
        assert {why(study, 1), why(study, 2)} == {"To begin with: it is the first of those tried least."}


def test_a_choice_is_said_with_its_mean_and_deviation_in_the_unit(study):
    told(study, 9)
    said = why(study, study.ask().number)
    assert "most promising" in said
    assert " ± " in said
    assert " kg" in said


def explained(arm, *, mean_rank=3, rank=1, initial=False, deviation=2.0, way=None):
    chosen = SimpleNamespace(arm=arm, name="x", mean=24.5, deviation=deviation, limit=30.0)
    return SimpleNamespace(
        opening=False, history=False, t=12, chosen=chosen, initial=initial, mean_rank=mean_rank, rank=rank, way=way
    )


def test_that_the_way_is_weighed_is_said_where_there_is_one_to_go(study):
    told(study, 5)
    now = study.snapshot()
    assert (
        sentence(explained(4, way=3.5), now)
        == f"{sentence(explained(4), now)[:-1]}; what the way there costs is weighed."
    )
    assert sentence(explained(4, way=0.0), now) == sentence(explained(4), now)


def test_a_good_site_nearby_is_named(study):
    for arm, reward in (("F1", 30.0), ("A4", 10.0), ("A1", 11.0), ("C2", 15.0), ("D4", 16.0)):
        study.observe(arm, reward)
    now = study.snapshot()
    beside = now.arms.index("F2")
    assert sentence(explained(beside), now).endswith("near F1, which did well.")
    assert "did well" not in sentence(explained(now.arms.index("A3")), now)


def test_each_reason_has_its_words(study):
    told(study, 5)
    now = study.snapshot()
    said = {
        sentence(explained(4, mean_rank=1), now).partition(":")[0],
        sentence(explained(4), now).partition(":")[0],
        sentence(explained(4, rank=9), now).partition(":")[0],
        sentence(explained(4, initial=True), now).partition(":")[0],
        sentence(explained(4, deviation=np.inf), now),
    }
    assert len(said) == 5
