"""The likelihood of choices: against plain evaluation, brute force, differences and limits."""

import itertools

import numpy as np
import pytest
from scipy.special import log_softmax

import corrbandits as cb
from corrbandits import choices
from corrbandits.choices import PARAMETERS, Model, Person, Round
from corrbandits.choices.likelihood import Problem
from tests.choices import plain

VALUES = {
    "prior_mean": 48.0,
    "prior_sd": 20.0,
    "length": 1.3,
    "noise": 0.2,
    "exploration": 0.7,
    "temperature": 8.0,
    "stickiness": 0.5,
    "distance": 0.1,
    "lapse": 0.05,
}
KERNELS = {
    "independent": None,
    "squared exponential": cb.SquaredExponential(1.0),
    "scaled matern": 3 * cb.Matern32(1.0),
    "rational quadratic": cb.RationalQuadratic(1.0, alpha=0.7),
    "sum": 0.8 * cb.Exponential(1.0) + 0.2 * cb.White(),
    "product": cb.Exponential(2.0) * cb.SquaredExponential(3.0),
}
RULES = {
    "deviation": None,
    "UCL": cb.UCL(),
    "printed": cb.CorrelatedUCL(),
    "plain": cb.CorrelatedUCL(factor=False),
    "greedy": cb.Greedy(),
    "horizon": cb.HorizonUCL,
    "GP-UCB": cb.GPUCB(delta=0.1),
}


def model_of(kernel, rule=None, cooling=False, **settings):
    """A model all of whose parameters are free that may be."""
    unit = {"prior_sd": VALUES["prior_sd"], "exploration": "free"}
    if isinstance(rule, cb.Greedy):
        unit = {"prior_sd": VALUES["prior_sd"]}
    others = dict.fromkeys(("noise", "stickiness", "distance", "lapse"), "free")
    return Model(kernel=kernel, rule=rule, cooling=cooling, **(unit | others | settings))


def values_of(model):
    return {name: VALUES[name] for name in (*model.free, *model.shared)}


@pytest.mark.parametrize("cooling", [False, True])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kernel", ["independent", "squared exponential"])
def test_it_is_that_of_the_beliefs_and_indices_of_the_package(kernel, rule, cooling):
    model, person = model_of(KERNELS[kernel], RULES[rule], cooling), plain.somebody()
    assert model.compiled
    known = model.complete(values_of(model))
    expected = plain.each(person, known, kernel=model.kernel, rule=RULES[rule], cooling=cooling)
    assert Problem(person, model).each(known) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert choices.log_likelihood(person, model, known) == pytest.approx(expected.sum(), rel=1e-12)


@pytest.mark.parametrize("kernel", [name for name in KERNELS if name not in ("independent", "scaled matern")])
def test_any_kernel_serves(kernel):
    model, person = model_of(KERNELS[kernel]), plain.somebody(1)
    known = model.complete(values_of(model))
    expected = plain.each(person, known, kernel=model.kernel)
    assert Problem(person, model).each(known) == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_a_kernels_variance_is_left_aside():
    person, values = plain.somebody(), values_of(model_of(KERNELS["scaled matern"]))
    one, three = (choices.log_likelihood(person, model_of(scale * cb.Matern32(1.0)), values) for scale in (1, 3))
    assert one == pytest.approx(three, rel=1e-13)


def test_the_posterior_is_that_of_one_gaussian_conditioned_at_once():
    """Without the package: means and deviations before the last choice by numpy.linalg on all rewards."""
    person = plain.somebody(2, rounds=1, trials=9, given=8)
    played, gaps = person.rounds[0], plain.GRID[:, None] - plain.GRID
    S = VALUES["prior_sd"] ** 2 * np.exp(-0.5 * (gaps**2).sum(axis=2) / VALUES["length"] ** 2)
    seen, y = played.arms[:8], played.rewards[:8]
    gain = np.linalg.solve(S[np.ix_(seen, seen)] + (VALUES["noise"] * VALUES["prior_sd"]) ** 2 * np.eye(8), S[seen]).T
    mean = VALUES["prior_mean"] + gain @ (y - VALUES["prior_mean"])
    deviation = np.sqrt((S - gain @ S[seen]).diagonal())
    expected = log_softmax((mean + VALUES["exploration"] * deviation) / VALUES["temperature"])
    model = Model(kernel=cb.SquaredExponential(1.0), **{name: VALUES[name] for name in list(PARAMETERS)[:6]})
    assert np.log(choices.choice_probabilities(person, model)[0]) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("prior", [choices.Wandering(scale=7.0), choices.ToldNothing()], ids=["drifting", "nothing"])
def test_beliefs_that_are_asked_trial_by_trial_have_the_same_interface(prior):
    person = plain.somebody(3, rounds=2, trials=6)
    kernel = cb.Exponential(1.0) if prior.uses else None
    model = Model(kernel=kernel, prior=prior, rule=cb.HorizonUCL, prior_sd=20.0 if prior.uses else None, cooling=True)
    known = model.complete(values_of(model))

    def made(person, kernel, values):
        if not prior.uses:
            return cb.Vague(coordinates=person.coordinates)
        return cb.Drifting(prior=plain.belief_of(person, kernel, values), scale=7.0)

    assert not model.compiled
    with np.errstate(invalid="ignore"):
        expected = plain.each(person, known, kernel=kernel, rule=cb.HorizonUCL, cooling=True, prior=made)
    found = Problem(person, model).each(known)
    told = np.isfinite(expected)  # told nothing, a belief has no deviations before it has seen some rewards
    assert told.sum() == (expected.size if prior.uses else 4)
    assert found[told] == pytest.approx(expected[told], rel=1e-10)
    assert found[~told] == pytest.approx(-np.log(person.arms))


def test_a_rule_may_be_made_for_each_horizon():
    person, kernel = plain.somebody(4), cb.Exponential(1.0)
    made = Model(kernel=kernel, rule=lambda horizon: cb.CorrelatedUCL())
    assert made.has_factor
    values = values_of(made)
    expected = choices.log_likelihood(person, Model(kernel=kernel, rule=cb.CorrelatedUCL()), values)
    assert choices.log_likelihood(person, made, values) == expected
    assert Model(rule=cb.BayesUCB).compiled


def test_any_rule_with_an_index_serves():
    person = plain.somebody(4, rounds=2, trials=6)
    model = Model(kernel=cb.Exponential(1.0), rule=cb.Gittins, noise=0.3)
    known = model.complete(values_of(model))
    expected = plain.each(person, known, kernel=model.kernel, rule=cb.Gittins)
    assert not model.compiled
    assert Problem(person, model).each(known) == pytest.approx(expected, rel=1e-10)


def differences(person, model, values):
    """Derivatives along the lines by central differences of the likelihood."""
    found, h = {}, 1e-5
    for name in values:
        place = PARAMETERS[name].line(values[name])
        up, down = (
            choices.log_likelihood(person, model, values | {name: PARAMETERS[name].value(place + s)}) for s in (h, -h)
        )
        found[name] = (up - down) / (2 * h)
    return found


@pytest.mark.parametrize(
    ("kernel", "rule"),
    [
        *itertools.product(["independent", "squared exponential"], RULES),
        ("sum", "deviation"),
        ("product", "UCL"),
    ],
)
def test_gradients_are_differences(kernel, rule):
    model, person = model_of(KERNELS[kernel], RULES[rule]), plain.somebody(5)
    values = values_of(model)
    value, by = choices.gradient(person, model, values)
    assert value == pytest.approx(choices.log_likelihood(person, model, values), rel=1e-13)
    assert by == pytest.approx(differences(person, model, values), rel=1e-6, abs=1e-6)


def test_gradients_of_beliefs_asked_trial_by_trial_are_differences():
    person = plain.somebody(6, rounds=1, trials=6)
    model = Model(kernel=cb.Exponential(1.0), prior=choices.Wandering(9.0), noise="free", prior_sd=20.0)
    values = values_of(model)
    assert choices.gradient(person, model, values)[1] == pytest.approx(
        differences(person, model, values), rel=1e-5, abs=1e-6
    )


@pytest.mark.parametrize("temperature", [1e-6, 1e6])
@pytest.mark.parametrize("length", [1e-3, 1e6])
@pytest.mark.parametrize("noise", [1e-2, 1e2])
def test_extremes_are_finite_and_those_of_plain_evaluation(temperature, length, noise):
    extreme = {"temperature": temperature, "length": length, "noise": noise, "lapse": 0.01}
    model, person = model_of(cb.SquaredExponential(1.0)), plain.somebody(7)
    known = model.complete(values_of(model) | extreme)
    found = Problem(person, model).each(known)
    with np.errstate(divide="ignore"):
        expected = plain.each(person, known, kernel=model.kernel)
    assert np.isfinite(found).all()
    rounding = 1e-12 * VALUES["prior_mean"] / temperature  # of a utility, near-singular as the prior is
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10 + rounding)
    _, by = choices.gradient(person, model, {name: known[name] for name in model.free})
    assert np.isfinite(list(by.values())).all()


def test_a_length_of_nearly_nothing_is_independence():
    person, values = plain.somebody(8), dict(VALUES)
    near = choices.log_likelihood(person, model_of(cb.SquaredExponential(1.0)), values | {"length": 1e-3})
    values.pop("length")
    assert near == pytest.approx(choices.log_likelihood(person, model_of(None), values), rel=1e-14)


def test_one_arm_is_always_chosen():
    alone = Person([Round([0, 0, 0], [1.0, 1.0, 1.0])], coordinates=[[0.0]])
    assert (
        choices.log_likelihood(alone, Model(kernel=cb.Exponential(1.0)), values_of(Model(kernel=cb.Exponential(1.0))))
        == 0
    )


def test_rewards_may_be_as_large_as_doubles():
    person = plain.somebody(9)
    huge = Person([Round(r.arms, r.rewards * 2.0**990, given=1) for r in person.rounds], coordinates=plain.GRID)
    model = model_of(cb.SquaredExponential(1.0), prior_sd=20.0 * 2.0**990)
    values = values_of(model)
    scaled = values | {name: values[name] * 2.0**990 for name in ("prior_mean", "temperature")}
    expected = choices.log_likelihood(person, model_of(cb.SquaredExponential(1.0)), values)
    assert choices.log_likelihood(huge, model, scaled) == pytest.approx(expected, rel=1e-12)


def test_what_comes_after_a_choice_does_not_matter_for_it():
    person = plain.somebody(10, rounds=1)
    played, model = person.rounds[0], model_of(cb.Matern52(1.0))
    known = model.complete(values_of(model))
    short = Person([Round(played.arms[:6], played.rewards[:6], given=1)], coordinates=plain.GRID)
    assert Problem(short, model).each(known).tolist() == Problem(person, model).each(known)[:5].tolist()


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"exploration": "free", "prior_sd": "free"}, "their product alone"),
        ({"length": 2.0}, "length is nothing that this model depends on"),
        ({"rule": cb.Greedy(), "exploration": "free"}, "its index has no bonus"),
        ({"exploration": 0.0, "prior_sd": "free"}, "nothing depends on it"),
        ({"prior": choices.ToldNothing(), "noise": 0.1}, "noise is nothing that this model depends on"),
        ({"lapse": 1.0}, "lapse must be below 1"),
        ({"temperature": 0.0}, "temperature must be above 0"),
    ],
)
def test_what_cannot_be_told_is_refused(settings, complaint):
    with pytest.raises(ValueError, match=complaint):
        Model(**settings)


def test_what_is_no_setting_is_refused():
    with pytest.raises(TypeError, match='noise must be a number, "free" or "shared", got \'loose\''):
        Model(noise="loose")
    for wrong in ("UCL", cb.Thompson(), lambda horizon: horizon):
        with pytest.raises(TypeError, match="rule must be a rule with an index"):
            Model(rule=wrong)
    with pytest.raises(TypeError, match="prior must be one such as"):
        Model(prior=cb.Independent(noise_variance=1.0, arms=2))
    with pytest.raises(TypeError, match="kernel must be a kernel"):
        Model(kernel=cb.SquaredExponential)
    with pytest.raises(ValueError, match="values must say what temperature is"):
        choices.log_likelihood(plain.somebody(), Model(prior_mean=0.0), {"exploration": 0.0})
    with pytest.raises(ValueError, match="distance needs to know where arms lie"):
        choices.fit(Person([Round([0, 1], [1.0, 2.0])], arms=2), Model(distance="free"))
