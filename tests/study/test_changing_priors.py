"""Studies whose prior is a belief on means that change: stored, opened again, replayed at the times of the rewards."""

import json

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.belief import History
from corrbandits.study.codec import memory_of, prior_data, prior_from
from corrbandits.study.setup import changed
from tests.support.contracts import same_bits

JOINT = cb.Correlated(mean=3.0, kernel=2 * cb.Exponential(2.0), coordinates=[0.0, 1.0, 2.0], noise_variance=1.0)
FLAT = cb.Independent(noise_variance=1.0, arms=3)
PRIORS = {
    "drifting": cb.Drifting(prior=JOINT, scale=5.0),
    "drifting, without an end": cb.Drifting(prior=JOINT, scale=np.inf),
    "drifting, scale not known": cb.Drifting(prior=JOINT, scale=(2.0, 500.0), parts=4),
    "windowed": cb.Windowed(prior=FLAT, window=5),
    "windowed, growing": cb.Windowed(prior=JOINT, window=(2.0, 0.5)),
    "discounted": cb.Discounted(prior=JOINT, factor=0.9),
}
STEPS = [(1.0, 0, 2.0), (2.5, 2, 5.0), (9.0, 0, 7.0)]


@pytest.mark.parametrize("name", PRIORS)
def test_a_prior_comes_back_to_the_last_bit(name):
    prior = PRIORS[name]
    again = prior_from(json.loads(json.dumps(prior_data(prior))))
    assert again.in_words() == prior.in_words()
    history = History.of(STEPS, arms=3)
    assert same_bits(again.replay(history), prior.replay(history))


def test_a_prior_that_would_take_too_much_memory_is_known_before_it_is_made():
    one = memory_of(prior_data(JOINT))
    assert memory_of(prior_data(PRIORS["drifting"])) == one
    assert memory_of(prior_data(PRIORS["drifting, scale not known"])) == 4 * one


@pytest.mark.parametrize("name", PRIORS)
def test_a_study_asks_and_tells_and_goes_on_when_it_is_opened_again(name, tmp_path):
    url = str(tmp_path / "change.db")
    study = cb.Study.create(url, "tide", prior=PRIORS[name], policy=cb.UCL())
    for reward in (1.0, 2.0, 3.0):
        study.tell(study.ask().number, reward)
    again = cb.Study.open(url, "tide")
    assert again.ask().number == 4
    assert again.best().mean == pytest.approx(study.best().mean)


def test_a_prior_may_stop_to_change():
    inner = cb.Correlated(kernel=4 * cb.Exponential(2.0), coordinates=[0.0, 1.0], noise_variance=1.0)
    assert same_bits(changed(cb.Drifting(prior=inner, scale=30.0), drift=False), inner)
    assert changed(inner, drift=False, noise_sd=2.0).noise_variance.tolist() == [4.0, 4.0]
    vague = changed(cb.Vague(arms=3, drift=30.0, sd=2.0), drift=False)
    assert not vague.changes
    assert vague.in_words() == cb.Vague(arms=3, sd=2.0).in_words()


def test_noises_that_differ_are_alike_where_one_is_said_for_all():
    uneven = cb.Independent(mean=1.0, variance=2.0, noise_variance=[1.0, 4.0, 9.0])
    assert changed(uneven, noise_sd=2.0).noise_variance.tolist() == [4.0, 4.0, 4.0]
    ranged = changed(uneven, noise_sd=(1.0, 3.0))
    assert ranged.in_words() == "told mean 1, deviation 1.41421, noise 1 to 3; the rest is learnt"
    assert np.ptp(ranged.relative_variance) == 0
    assert changed(uneven, learn=["sd"]).relative_variance.tolist() == [1.0, 4.0, 9.0]


def test_means_that_differ_may_be_replaced_by_a_range():
    uneven = cb.Independent(mean=[1.0, 5.0, 9.0], variance=2.0, noise_variance=1.0)
    assert changed(uneven, prior_mean=(3.0, 7.0)).in_words().startswith("told mean 3 to 7, deviation 1.41421")
    with pytest.raises(ValueError, match="what is to be learnt, or lies in a range, must be of a prior of one mean"):
        changed(uneven, prior_sd=(1.0, 2.0))


@pytest.mark.parametrize("prior", [FLAT, cb.Vague(arms=3), cb.Beta(arms=3)], ids=["flat", "told nothing", "beta"])
@pytest.mark.parametrize("said", [{"lengths": [3.0]}, {"lengths": [(1.0, 3.0)]}])
def test_a_length_needs_places(prior, said):
    with pytest.raises(ValueError, match="`length` is for a prior that knows where arms lie, but the study's is"):
        changed(prior, **said)
