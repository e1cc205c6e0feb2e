"""Populations: against integrals over people, full posterior sampling, limits, and what a population says of itself."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm

from corrbandits import choices
from corrbandits.choices import Model, Person, Population, Round, modes, pooling, spreading
from corrbandits.choices.iteration import Iteration, State
from tests.choices import populations
from tests.choices.populations import MODEL


@pytest.fixture(scope="module")
def people():
    return populations.people()


@pytest.fixture(scope="module")
def surfaces(people):
    return [populations.surface(person) for person in people]


@pytest.fixture(scope="module")
def found(people):
    return choices.fit_population(people, MODEL)


def test_the_evidence_of_each_person_is_the_integral_over_the_population(found, surfaces):
    spread = list(found.spread.values())
    exact = [populations.evidence(values, found.mean, spread) for values in surfaces]
    assert found.log_evidence == pytest.approx(exact, abs=0.01)
    assert found.bic == pytest.approx(4 * np.log(8 * 90) - 2 * sum(exact), abs=0.2)
    assert found.aic == pytest.approx(8 - 2 * sum(exact), abs=0.2)
    assert not found.notes


def test_the_population_is_where_the_integral_is_largest_and_as_sure_as_that_is_sharp(found, surfaces):
    def down(x):
        return -sum(populations.evidence(values, x[:2], np.exp(x[2:])) for values in surfaces)

    best = minimize(down, [0.5, -0.5, -1.0, -1.0], method="BFGS")
    sure = populations.errors(down, best.x)
    assert np.abs(found.mean - best.x[:2]).max() < 0.05 * sure[:2].min()
    assert np.abs(np.log(list(found.spread.values())) - best.x[2:]).max() < 0.1 * sure[2:].min()
    assert np.sqrt(found.mean_covariance.diagonal()) == pytest.approx(sure[:2], rel=0.1)
    low, high = found.interval("temperature")
    assert low < np.exp(populations.TRUE.mean[1]) < high


def test_what_people_share_is_where_the_integral_is_largest(people, surfaces):
    found = choices.fit_population(people, replace(MODEL, temperature="shared"))

    def down(x):
        return -sum(populations.evidence_at(values, np.exp(x[0]), x[1], np.exp(x[2])) for values in surfaces)

    best = minimize(down, [-0.5, 0.5, -1.0], method="BFGS")
    sure = populations.errors(down, best.x)
    assert abs(np.log(found.shared["temperature"]) - best.x[0]) < 0.05 * sure[0]
    assert found.errors["temperature"] == pytest.approx(found.shared["temperature"] * sure[0], rel=0.1)
    assert found.mean[0] == pytest.approx(best.x[1], abs=0.05 * sure[1])
    assert {one.values["temperature"] for one in found.people} == {found.shared["temperature"]}
    assert found.parameters == 3


@pytest.mark.slow
def test_full_posterior_sampling_finds_the_same_people_and_population(found, surfaces):
    """emcee, over everybody's parameters, means and deviations at once; flat priors on means and log deviations."""
    import emcee

    heights, many = [populations.smooth(values) for values in surfaces], len(surfaces)

    def log_density(x):
        m, s, z = x[:, :2], x[:, 2:4], x[:, 4:].reshape(len(x), many, 2)
        inside = (np.abs(z - [0.7, -0.3]) < [1.7, 1.5]).all(axis=(1, 2)) & (np.abs(s + 1.5) < 2.0).all(axis=1)
        value = norm.logpdf(z, m[:, None, :], np.exp(s)[:, None, :]).sum(axis=(1, 2))
        value += sum(height(z[:, k, 0], z[:, k, 1]) for k, height in enumerate(heights))
        return np.where(inside, value, -np.inf)

    rng = np.random.default_rng(4)
    middle = np.concatenate([found.mean, np.log(list(found.spread.values())), *(line(one) for one in found.people)])
    sampler = emcee.EnsembleSampler(80, middle.size, log_density, vectorize=True)
    sampler.random_state = np.random.RandomState(4).get_state()  # what emcee takes
    sampler.run_mcmc(middle + 0.05 * rng.standard_normal((80, middle.size)), 3000)
    draws = sampler.get_chain(discard=1000, thin=10, flat=True)
    assert np.abs(found.mean - np.median(draws[:, :2], axis=0)).max() < 0.5 * draws[:, :2].std(axis=0).min()
    everybody = draws[:, 4:].mean(axis=0).reshape(many, 2)
    modes_found = np.array([line(one) for one in found.people])
    assert np.abs((modes_found - everybody) / draws[:, 4:].std(axis=0).reshape(many, 2)).max() < 0.5


def line(fit):
    return np.array([fit.values["exploration"], np.log(fit.values["temperature"])])


def test_people_are_drawn_to_each_other_and_more_so_who_tells_less(people):
    fewer = [people[0].only([0]), *people[1:]]
    alone, pooled = choices.fit_people(fewer, MODEL), choices.fit_population(fewer, MODEL)
    away = [np.abs([line(one) - pooled.mean for one in fits]) for fits in (alone, pooled.people)]
    assert (away[1] < away[0]).mean() > 0.8
    width = [one.covariance[1, 1] for one in pooled.people]
    assert np.argmax(width) == 0
    assert width[0] < pooled.covariance[1, 1]


def test_covariances_over_people_are_found_where_they_are_asked_for():
    law = Population.of_law(MODEL, [0.6, -0.4], [[0.25, 0.2], [0.2, 0.25]])
    drawn = law.draw(30, seed=2)
    many = [choices.simulate(MODEL, one, populations.ARMS * 6, horizon=20, seed=k) for k, one in enumerate(drawn)]
    plain, full = (choices.fit_population(many, MODEL, correlated=flag) for flag in (False, True))
    assert plain.covariance[0, 1] == 0
    assert full.covariance[0, 1] / np.sqrt(np.prod(full.covariance.diagonal())) > 0.5
    assert full.log_evidence.sum() > plain.log_evidence.sum() + 3
    assert full.parameters == plain.parameters + 1


def test_draws_are_spread_as_the_population_is_and_have_the_same_bits():
    drawn = populations.TRUE.draw(4000, seed=3)
    z = np.array([[one["exploration"], np.log(one["temperature"])] for one in drawn])
    assert z.mean(axis=0) == pytest.approx(populations.TRUE.mean, abs=0.03)
    assert np.cov(z.T) == pytest.approx(populations.TRUE.covariance, abs=0.02)
    assert populations.TRUE.draw(3, seed=3) == populations.TRUE.draw(3, seed=3)


def test_a_population_has_the_same_bits_whoever_computes_it(people, found):
    again = choices.fit_population(people, MODEL, threads=2)
    assert again.mean.tolist() == found.mean.tolist()
    assert again.steps == found.steps


def test_who_cannot_be_told_alone_is_told_with_the_others(people):
    """One who always takes what is best and one who guesses: alone they run to an end."""
    sure = Person([Round([1, 2, 2, 2, 2, 2], [0.0, 9.0, 9.0, 9.0, 9.0, 9.0], given=2)], arms=4, name="sure")
    assert choices.fit(sure, MODEL).notes
    found = choices.fit_population([*people, sure], MODEL)
    assert np.isfinite(found.people[-1].covariance).all()
    assert found.people[-1].values["temperature"] < found.median["temperature"]


def test_people_who_do_not_differ_are_said_not_to(people):
    same = [replace(people[0], name=k) for k in range(5)]
    found = choices.fit_population(same, MODEL)
    assert any("does not differ between people" in note for note in found.notes)


def test_who_has_no_peak_is_named_and_as_uncertain_as_the_population(people, found):
    """Curvature of -3 in one direction, in units of the population: nothing is told there."""
    inside, log_det, is_peaked = modes._inverse(np.diag([-3.0, 4.0]))
    assert inside == pytest.approx(np.diag([1.0, 0.2]))
    assert (log_det, is_peaked) == (pytest.approx(np.log(5)), False)
    assert modes._inverse(np.diag([-0.5, 4.0]))[0] == pytest.approx(np.diag([2.0, 0.2]))
    problems = [choices.likelihood.Problem(person, MODEL) for person in people]
    law = modes.Law(MODEL.free, found.mean, found.covariance)
    own = [modes.most_likely(p, law, MODEL.fixed, [found.mean], np.zeros((2, 2))) for p in problems]
    state = State(law, {}, (replace(own[0], is_peaked=False), replace(own[1], is_found=False), *own[2:]))
    notes = " ".join(pooling._notes(state, problems, np.full(2, 1e-3)))
    assert "the likelihood of 0 has no peak" in notes
    assert "parameters of 1 were not found" in notes
    assert "not settled after 0 steps" in notes


@pytest.mark.parametrize("scale", [1e-300, 1e-6, 1e6, 1e300])
def test_units_of_rewards_do_not_matter(people, scale):
    few = people[:3]
    scaled = [
        replace(one, rounds=[replace(r, rewards=r.rewards * scale) for r in one.rounds]) for one in few
    ]  # fmt: skip
    model = Model(prior_mean=scale, prior_sd=2.0 * scale, noise=0.5)
    plain, found = choices.fit_population(few, MODEL), choices.fit_population(scaled, model)
    assert found.log_evidence == pytest.approx(plain.log_evidence, abs=1e-3)
    assert found.median["temperature"] == pytest.approx(plain.median["temperature"] * scale, rel=1e-2)


def test_what_is_no_population_is_refused(people):
    with pytest.raises(ValueError, match="two people or more"):
        choices.fit_population(people[:1], MODEL)
    with pytest.raises(ValueError, match="0 free"):
        choices.fit_population(people, Model(prior_mean=0.0, exploration=0.0, temperature=1.0))
    with pytest.raises(ValueError, match="must be of exploration, temperature"):
        Population.of_law(MODEL, [0.0], [[1.0]])


@pytest.mark.parametrize("stuck", [0, 1])
def test_the_best_of_several_ends_is_kept_and_it_is_said_that_they_differ(people, found, monkeypatch, stuck):
    """One of the two starts ends far away, where people are taken for colder by far than they are."""
    firsts = Iteration.firsts

    def one_far_away(search):
        states = firsts(search)
        law = replace(states[stuck].law, m=states[stuck].law.m - 3.0)
        far = search._modes(law, {}, [([law.m], np.zeros((2, 2)))] * len(people))
        states[stuck] = replace(states[stuck], law=law, modes=far, steps=(0.0,) * 5)
        return states

    settled = Iteration.settled
    monkeypatch.setattr(Iteration, "firsts", one_far_away)
    monkeypatch.setattr(
        Iteration, "settled", lambda search, state, *how: state if state.steps else settled(search, state, *how)
    )
    kept = choices.fit_population(people, MODEL)
    assert kept.log_evidence.sum() == pytest.approx(found.log_evidence.sum(), abs=0.01)
    assert kept.mean == pytest.approx(found.mean, abs=0.01)
    assert len(kept.notes) == 1
    assert "there are several tops" in kept.notes[0]
    assert not found.notes


def test_who_is_spread_widely_and_who_is_not_is_where_the_iteration_begins(people):
    """One person far away moves the wide law, and leaves the other where the middle half of people are."""
    alone = choices.fit_people(people, MODEL)
    far = replace(alone.each[0], values=alone.each[0].values | {"exploration": 1e3})
    problems = [choices.likelihood.Problem(person, MODEL) for person in people]
    groups = (alone, replace(alone, each=(far, *alone.each[1:])))
    searches = [Iteration(each, problems, False, spreading.spread(1, None)) for each in groups]
    laws = [[state.law for state in search.firsts()] for search in searches]
    assert laws[1][0].m[0] > laws[0][0].m[0] + 10
    assert abs(laws[1][1].m[0] - laws[0][1].m[0]) < 0.5
    assert laws[1][1].V[0, 0] < 0.01 * laws[1][0].V[0, 0]
