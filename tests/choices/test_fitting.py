"""Fits: the concave part and its known optimum, people whose parameters are known, and what a fit says of itself."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

import corrbandits as cb
from corrbandits import choices
from corrbandits.choices import PARAMETERS, Model, Person, Round
from corrbandits.choices.likelihood import Problem
from tests.choices import plain

SMOOTH = cb.SquaredExponential(1.0)
HILLS = [
    cb.landscapes.draw(400 * cb.SquaredExponential(1.5), plain.GRID, mean=50.0, noise_variance=4.0, seed=k)
    for k in range(10)
]
MODEL = Model(kernel=SMOOTH, prior_mean=50.0, prior_sd=20.0)
KNOWN = {"length": 1.2, "exploration": 0.6, "temperature": 4.0}


@pytest.fixture(scope="module")
def anna():
    return choices.simulate(MODEL, KNOWN, HILLS, horizon=30, seed=2, name="Anna")


@pytest.mark.parametrize(
    "settings",
    [
        {"exploration": "free"},
        {"exploration": "free", "prior_mean": "free", "stickiness": "free", "distance": "free"},
        {"exploration": 1.0, "prior_sd": "free", "rule": cb.UCL()},
        {"temperature": 5.0, "exploration": "free", "prior_mean": "free"},
        {"exploration": "free", "lapse": 0.1},
    ],
    ids=["2018", "all", "UCL", "known temperature", "lapses"],
)
def test_the_concave_part_is_where_another_optimiser_finds_it(anna, settings):
    """All parameters at once, by a method without gradients' help from here: the plain likelihood and BFGS."""
    fixed = {"prior_mean": 50.0, "prior_sd": 20.0, "length": 1.2, "noise": 0.3} | settings
    model = Model(kernel=SMOOTH, **fixed)
    person = anna.only([0])
    found = choices.fit(person, model)

    def down(line):
        place = {name: PARAMETERS[name].value(z) for name, z in zip(model.free, line, strict=True)}
        known = model.complete(place)
        return -plain.each(person, known, kernel=SMOOTH, rule=model.rule).sum()

    start = np.array([PARAMETERS[name].line(found.values[name]) for name in model.free])
    assert -found.log_likelihood == pytest.approx(down(start), rel=1e-10)
    away = minimize(down, start + 0.05, method="BFGS", options={"gtol": 1e-3, "maxiter": 40})
    assert away.fun >= -found.log_likelihood - 1e-9
    assert away.fun == pytest.approx(-found.log_likelihood, abs=1e-3)


@pytest.mark.parametrize("prior", [choices.Wandering(scale=7.0), choices.ToldNothing()], ids=["drifting", "nothing"])
def test_beliefs_that_are_asked_trial_by_trial_are_fitted_at_the_top_of_the_plain_likelihood(prior):
    """Cooling too: flat there along every line, and lower on both sides; the beliefs are made by hand."""
    settings = {"kernel": SMOOTH, "prior_mean": 50.0, "prior_sd": 20.0} if prior.uses else {}
    model = Model(prior=prior, cooling=True, **settings)
    arms = [[3, 4, 9, 4, 3, 7, 4], [12, 2, 8, 13, 12, 8, 17]]
    rewards = [[50.0, 61.0, 40.0, 60.0, 52.0, 48.0, 63.0], [45.0, 56.0, 38.0, 62.0, 44.0, 41.0, 58.0]]
    person = Person([Round(a, y, given=4) for a, y in zip(arms, rewards, strict=True)], plain.GRID)
    found = choices.fit(person, model)
    assert not found.notes

    def made(person, kernel, values):
        if not prior.uses:
            return cb.Vague(coordinates=person.coordinates)
        return cb.Drifting(prior=plain.belief_of(person, kernel, values), scale=7.0)

    def at(name, step):
        moved = PARAMETERS[name].value(PARAMETERS[name].line(found.values[name]) + step)
        values = {**found.values, name: moved}
        return plain.each(person, values, kernel=model.kernel, cooling=True, prior=made).sum()

    top = at("temperature", 0.0)
    assert found.log_likelihood == pytest.approx(top, rel=1e-10)
    for name in model.free:
        up, down = at(name, 1e-3), at(name, -1e-3)
        assert max(up, down) < top
        assert up - down == pytest.approx(0.0, abs=1e-6)


def test_the_top_is_flat_in_every_direction(anna):
    model = Model(kernel=SMOOTH, prior_sd=20.0, noise="free", stickiness="free", distance="free", lapse="free")
    found = choices.fit(anna, model)
    value, by = choices.gradient(anna, model, found.values)
    assert value == pytest.approx(found.log_likelihood, rel=1e-12)
    ends = " ".join(found.notes)
    inside = [name for name in model.free if f"{name} runs to" not in ends]
    assert {"length", "temperature", "exploration", "prior_mean"} <= set(inside)
    assert max(abs(by[name]) for name in inside) < 1e-2


def test_a_person_of_known_parameters_is_found(anna):
    found = choices.fit(anna, MODEL)
    assert not found.notes
    for name, value in KNOWN.items():
        low, high = found.interval(name)
        assert low < value < high
        assert found.errors[name] < 0.5 * value
    assert found.values["prior_mean"] == 50.0
    assert found.log_likelihood >= choices.log_likelihood(anna, MODEL, KNOWN)
    assert found.aic == pytest.approx(6 - 2 * found.log_likelihood)
    assert found.bic == pytest.approx(3 * np.log(300) - 2 * found.log_likelihood)
    assert 0 < found.share_explained < 1


def test_standard_errors_are_those_of_the_curvature_of_the_plain_likelihood(anna):
    person = anna.only([0, 1])
    found, h = choices.fit(person, MODEL), 1e-3
    line = np.array([PARAMETERS[name].line(found.values[name]) for name in MODEL.free])

    def value(at):
        place = {name: PARAMETERS[name].value(z) for name, z in zip(MODEL.free, at, strict=True)}
        return plain.each(person, MODEL.complete(place), kernel=SMOOTH).sum()

    e = h * np.eye(3)
    curvature = np.array(
        [
            [
                value(line + a + b) - value(line + a - b) - value(line - a + b) + value(line - a - b)
                for b in e
            ]
            for a in e
        ]
    ) / (4 * h * h)  # fmt: skip
    assert found.covariance == pytest.approx(np.linalg.inv(-curvature), rel=1e-3)


def test_a_profile_has_its_top_at_the_fit_and_falls_by_two_at_the_interval(anna):
    found = choices.fit(anna, MODEL)
    low, high = found.interval("length")
    curve = choices.profile(anna, MODEL, "length", [low, found.values["length"], high])
    assert curve[1] == pytest.approx(found.log_likelihood, abs=1e-8)
    assert curve[1] - curve[[0, 2]] == pytest.approx([1.92, 1.92], rel=0.35)
    with pytest.raises(ValueError, match="noise must be a free parameter"):
        choices.profile(anna, MODEL, "noise", [1.0])


@pytest.mark.parametrize("name", ["temperature", "exploration"])
def test_shared_parameters_are_one_for_all_and_best(anna, name):
    ben = choices.simulate(MODEL, KNOWN | {"length": 0.7, "temperature": 6.0}, HILLS[:4], horizon=15, seed=5)
    both = [anna.only([0, 1]), ben]
    fits = choices.fit_people(both, replace(MODEL, **{name: "shared"}))
    value = fits[0].values[name]
    assert value == fits[1].values[name]

    def total(at):
        return sum(choices.fit(person, MODEL.fixing({name: at})).log_likelihood for person in both)

    best = sum(each.log_likelihood for each in fits)
    assert total(value) == pytest.approx(best, rel=1e-10)
    assert max(total(value * 1.1), total(value * 0.9)) < best
    assert best < sum(choices.fit(person, MODEL).log_likelihood for person in both)
    with pytest.raises(ValueError, match=f"{name} shared by people can be fitted to several"):
        choices.fit(anna, replace(MODEL, **{name: "shared"}))


def test_fits_have_the_same_bits_whoever_computes_them(anna):
    people = [anna.only([k]) for k in range(4)]
    with ThreadPoolExecutor(3) as pool:
        ways = [{}, {"threads": 2}, {"map": map}, {"map": pool}]
        found = [[each.values for each in choices.fit_people(people, MODEL, **way)] for way in ways]
    assert all(each == found[0] for each in found)
    with pytest.raises(TypeError, match="map must be a function"):
        choices.fit_people(people, MODEL, map=3)


def test_rounds_left_out_are_foreseen_by_the_others(anna):
    person = anna.only([0, 1, 2])
    found = choices.leave_one_round_out(person, MODEL)
    for out in range(3):
        fitted = choices.fit(person.only([k for k in range(3) if k != out]), MODEL)
        ahead = choices.log_likelihood(person.only([out]), MODEL, fitted.values)
        assert found.rounds[out] == pytest.approx(ahead, abs=1e-3)
    assert found.choices == 90
    later = choices.leave_future_out(person, MODEL, first=2)
    assert later.rounds == pytest.approx(found.rounds[2:], abs=1e-3)
    assert choices.predict_people([person], MODEL)[0].rounds.tolist() == found.rounds.tolist()
    assert found.share_explained == pytest.approx(1 + found.rounds.sum() / (90 * np.log(20)))


def test_a_model_that_is_right_foresees_better_than_one_that_is_not(anna):
    person = anna.only(range(4))
    right = choices.leave_one_round_out(person, MODEL)
    wrong = choices.leave_one_round_out(person, Model(prior_mean=50.0, prior_sd=20.0, noise="free"))
    assert right.log_likelihood > wrong.log_likelihood + 10


def note_on(person, model, words):
    notes = choices.fit(person, model).notes
    assert any(words in note for note in notes), notes


def test_a_fit_says_what_ran_away():
    rng = np.random.default_rng(0)
    random = plain.somebody(1, rounds=6, trials=30)
    never = Person([Round(np.arange(20), 50 + rng.normal(size=20))], coordinates=plain.GRID)
    always = Person([Round([3] * 12, [9.0] * 12)], coordinates=plain.GRID)
    alike = Person([Round(rng.integers(20, size=12), [50.0] * 12)], coordinates=plain.GRID)
    note_on(never, Model(prior_mean=50.0, exploration=0.0, temperature=1.0, stickiness="free"), "no arm is taken twice")
    note_on(always, Model(prior_mean=0.0, exploration=0.0, temperature=1.0, stickiness="free"), "always taken again")
    note_on(alike, Model(prior_mean=50.0, exploration=0.0, noise=0.1), "temperature")
    note_on(random, Model(kernel=SMOOTH, prior_mean=50.0, prior_sd=20.0, lapse="free"), "lapse runs to its")
    obvious = Person([Round([0, 1, 0, 0, 0], [9.0, 0.0, 9.0, 9.0, 9.0], given=2)], arms=2)
    note_on(obvious, Model(prior_mean=0.0, exploration=0.0), "however little an arm is preferred, it is taken")
    backwards = Person([Round([0, 1, 1, 1, 1], [9.0, 0.0, 0.0, 0.0, 0.0], given=2)], arms=2)
    note_on(backwards, Model(prior_mean=0.0, exploration=0.0), "means do not matter for the choices")


@pytest.mark.parametrize("scale", [1e-300, 1e298])
def test_the_top_does_not_depend_on_the_unit_of_rewards_where_exploration_is_in_it(anna, scale):
    """Prior mean, exploration and temperature are in units of rewards; the prior deviation is 1, far from them."""
    person, model = anna.only([0, 1]), Model(kernel=SMOOTH, length=1.2)
    scaled = replace(person, rounds=[replace(one, rewards=one.rewards * scale) for one in person.rounds])
    found, other = choices.fit(person, model), choices.fit(scaled, model)
    assert other.log_likelihood == pytest.approx(found.log_likelihood, abs=1e-6)
    for name in ("exploration", "temperature"):
        assert other.values[name] / scale == pytest.approx(found.values[name], rel=1e-3)
    assert any("another unit" in note for note in other.notes)
    assert set(other.errors.values()) == {np.inf}


def test_rewards_that_are_next_to_nothing_are_refused():
    with pytest.raises(ValueError, match=r"rewards must be larger than 1e-300, or 0.*another unit"):
        choices.fit(Person([Round([0, 1], [5e-323, 0.0])], arms=2), Model())


def test_a_round_of_one_trial_and_a_person_of_one_arm_are_fitted_without_a_crash():
    once = Person([Round([1], [2.0])], coordinates=plain.GRID)
    assert choices.fit(once, Model(kernel=SMOOTH)).log_likelihood == pytest.approx(-np.log(20))
    assert choices.fit(once, Model(kernel=SMOOTH)).notes
    alone = Person([Round([0, 0], [1.0, 2.0])], coordinates=[[0.0]])
    assert choices.fit(alone, Model(kernel=SMOOTH)).notes
    with pytest.raises(ValueError, match="has made no choice"):
        choices.fit(Person([Round([1], [2.0], given=1)], arms=2), Model())


def test_the_likelihood_has_no_lower_point_between_two_of_its_concave_part(anna):
    """Concavity itself, along lines between random coefficients."""
    problem = Problem(anna.only([0]), MODEL)
    rng = np.random.default_rng(3)

    def at(x):  # 1 / temperature, exploration / temperature
        return problem.each(MODEL.complete({"length": 1.0, "temperature": 1 / x[0], "exploration": x[1] / x[0]})).sum()

    for _ in range(20):
        one, other = rng.uniform([0.01, -1.0], [2.0, 1.0], (2, 2))
        assert at((one + other) / 2) >= (at(one) + at(other)) / 2


def test_what_is_shared_is_as_sure_as_the_profile_of_all_people_says(anna):
    """The curvature of the largest likelihood of all, with everything else fitted anew at each value."""
    people = [anna.only([0, 1, 2]), anna.only([3, 4]), anna.only([5, 6, 7])]
    fits = choices.fit_people(people, replace(MODEL, temperature="shared"))
    middle, h = np.log(fits.shared["temperature"]), 0.02
    curve = [
        sum(choices.fit(one, MODEL.fixing({"temperature": np.exp(middle + d)})).log_likelihood for one in people)
        for d in (-h, 0.0, h)
    ]
    assert fits.shared_covariance[0, 0] == pytest.approx(-(h**2) / (curve[0] - 2 * curve[1] + curve[2]), rel=0.01)
    assert fits.errors["temperature"] == pytest.approx(fits.shared_covariance[0, 0] ** 0.5 * np.exp(middle))
    low, high = fits.interval("temperature")
    assert low < KNOWN["temperature"] < high


def test_a_group_counts_what_is_shared_once(anna):
    people = [anna.only([0, 1]), anna.only([2, 3])]
    apart, together = (choices.fit_people(people, replace(MODEL, temperature=t)) for t in ("free", "shared"))
    assert (apart.parameters, together.parameters) == (6, 5)
    assert apart.aic == pytest.approx(sum(each.aic for each in apart))
    assert together.aic - apart.aic == pytest.approx(-2 - 2 * (together.log_likelihood - apart.log_likelihood))
    n = people[0].choices
    assert together.bic + 2 * together.log_likelihood == pytest.approx(4 * np.log(n) + np.log(2 * n))


def test_what_is_shared_and_cannot_be_told_is_named(anna):
    alone = Person([Round([0, 0, 0], [1.0, 2.0, 1.0])], coordinates=[[0.0]])
    fits = choices.fit_people([alone, alone], Model(prior_mean=1.0, exploration=0.0, temperature="shared"))
    assert fits.errors["temperature"] == np.inf
    assert any("cannot be told" in note for note in fits[0].notes)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_a_fit_does_not_depend_on_the_unit_of_rewards(anna, scale):
    person = anna.only([0, 1])
    scaled = replace(person, rounds=[replace(one, rewards=one.rewards * scale) for one in person.rounds])
    model = Model(kernel=SMOOTH, prior_mean=50.0 * scale, prior_sd=20.0 * scale)
    found, other = choices.fit(person, MODEL), choices.fit(scaled, model)
    assert other.log_likelihood == pytest.approx(found.log_likelihood, abs=1e-6)
    assert other.values["temperature"] / scale == pytest.approx(found.values["temperature"], rel=1e-3)
    assert other.covariance == pytest.approx(found.covariance, rel=1e-2)
    assert other.notes == found.notes == ()


def test_somebody_who_only_takes_new_arms_is_found_to_choose_among_them_at_random():
    """The known top: one of the arms not yet taken, all as likely."""
    rng = np.random.default_rng(0)
    rounds = [Round(rng.permutation(121)[:31], rng.uniform(60.0, 127.0, 31), given=1) for _ in range(4)]
    found = choices.fit(Person(rounds, arms=121), Model(rule=cb.UCL()))
    assert found.log_likelihood == pytest.approx(-4 * np.log(121 - np.arange(1, 31)).sum(), abs=1e-5)
    assert not any("search" in note for note in found.notes)


@pytest.mark.parametrize("seed", range(4))
def test_somebody_who_hardly_hesitates_is_found_at_the_lowest_temperature(seed):
    model, known = Model(rule=cb.UCL()), {"prior_mean": 60.0, "prior_sd": 10.0, "temperature": 0.05}
    worlds = [cb.GaussianBandit(np.random.default_rng([seed, k]).normal(50.0, 15.0, 30), 1.0) for k in range(8)]
    person = choices.simulate(model, known, worlds, horizon=20, seed=seed)
    found = choices.fit(person, model)
    assert any("temperature runs to its lower end" in note for note in found.notes)
    assert not any("search" in note for note in found.notes)
    at_the_end = known | {"temperature": found.values["temperature"]}
    assert found.log_likelihood >= choices.log_likelihood(person, model, at_the_end)
