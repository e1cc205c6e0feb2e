"""Other fields lend what they say of kernel, length, site share and noise, and nothing else."""

import numpy as np
import pytest
from scipy import integrate

import corrbandits as cb
from corrbandits import Exponential, Gittins, Vague
from tests.support.parts import log_prior

RNG = np.random.default_rng(9)
PLACES = np.array([(x, y) for x in range(4) for y in range(4)], dtype=float)
ELSEWHERE = RNG.random((40, 2)) * 8
ROUGH = np.linalg.cholesky(Exponential(0.2)(ELSEWHERE)) @ RNG.standard_normal(40)
SMOOTH = np.sin(ELSEWHERE[:, 0] / 3) + np.cos(ELSEWHERE[:, 1] / 3)


def test_weights_are_the_density_of_the_other_fields_rewards():
    """Mean and scale are integrated out by quadrature."""
    places, rewards = np.array([[0.0, 0.0], [1.0, 0.5], [0.0, 0.0], [2.0, 2.0]]), np.array([3.0, 4.0, 2.5, 5.5])
    prior = Vague(coordinates=PLACES, fields=[(places, rewards)], parts=3)
    parts, likely = prior.parts, []
    for part in range(3):
        same = (places[:, None] == places).all(axis=2)
        R = (1 - parts.sites[part]) * parts.kernel(part)(places) + parts.sites[part] * same

        M = R + parts.ratios[part] * np.eye(4)
        scales, means = np.exp(np.linspace(-3, 5, 81)), np.linspace(-60, 67, 601)
        apart = rewards[:, None] - means
        about = (apart * np.linalg.solve(M, apart)).sum(axis=0)
        values = np.exp(-0.5 * about / scales[:, None] ** 2) / (scales[:, None] ** 4 * np.sqrt(np.linalg.det(M)))
        likely.append(integrate.simpson(integrate.simpson(values, x=means), x=np.log(scales)))
    likely = np.exp(log_prior(prior)) * likely
    got = np.exp(parts.log_prior - parts.log_prior.max())
    np.testing.assert_allclose(got / got.sum(), np.array(likely) / sum(likely), rtol=0.01)
    np.testing.assert_allclose(prior.weights, got / got.sum())


def test_a_field_lends_its_smoothness_and_neither_level_nor_scale():
    arms, rewards = [0, 5, 10, 15, 3], [1.0, 1.5, 2.0, 1.2, 0.7]
    twice, noise = np.tile(ELSEWHERE, (2, 1)), 0.4 * RNG.standard_normal(80)  # or rough and noisy look alike
    rough, smooth, other = (
        Vague(coordinates=PLACES, fields=[(twice, level + scale * (np.tile(surface, 2) + noise))]).observe(
            arms, rewards
        )
        for surface, level, scale in ((ROUGH, 1e4, 50.0), (SMOOTH, 1e4, 50.0), (SMOOTH, 0.0, 7.0))
    )
    assert rough.learnt().neighbours.high < smooth.learnt().neighbours.low
    np.testing.assert_allclose(other.mean, smooth.mean, rtol=1e-8)
    np.testing.assert_allclose(smooth.mirrored().mean, -smooth.mean, rtol=1e-9)
    assert smooth.in_words() == "told 1 other field; the rest is learnt"


def test_engines_agree_and_a_study_keeps_it(tmp_path):
    prior = Vague(coordinates=PLACES, fields=[(ELSEWHERE, SMOOTH), (ELSEWHERE[:9], ROUGH[:9])], parts=6)
    environment = cb.GaussianBandit(means=np.sin(PLACES[:, 0]), noise_variance=0.2)
    runs = [
        cb.simulate({"rule": (Gittins(30), prior)}, environment, horizon=30, seed=2, engine=engine).arms.values
        for engine in ("reference", "compiled")
    ]
    np.testing.assert_array_equal(*runs)
    url = f"sqlite:///{tmp_path}/studies.db"
    with cb.Study.create(url, "field", prior=prior, policy=Gittins(40)):
        pass
    with cb.Study.open(url, "field") as study:
        again = study.snapshot().prior
    np.testing.assert_array_equal(again.parts.log_prior, prior.parts.log_prior)
    assert prior.merge(again).counts.sum() == 0


@pytest.mark.parametrize(
    ("fields", "match"),
    [
        ([([[0.0, 0.0]], [1.0, 2.0])], "a reward for each row"),
        ([([[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0])], "2 coordinates"),
        ([(ELSEWHERE, np.ones(40))], "not all equal"),
        ([3.0], "pairs"),
    ],
)
def test_what_is_no_field_is_refused(fields, match):
    with pytest.raises(ValueError, match=match):
        Vague(coordinates=PLACES, fields=fields)
    with pytest.raises(TypeError, match="coordinates"):
        Vague(arms=3, fields=fields)


def test_a_field_may_lie_any_number_of_powers_below_a_stated_deviation():
    belief = Vague(coordinates=range(4), sd=1.0, fields=[([0.0, 1.0, 2.0, 3.0], [1e-200, 2e-200, 3e-200, 2e-200])])
    assert np.isfinite(belief.parts.log_prior).all()
    assert np.isfinite(belief.observe([0, 1, 3], [1.0, 2.0, 1.5]).mean).all()
