"""Every finding's check computes what it claims, passes, and can fail."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import norm

from corrbandits import theory
from corrbandits.belief import Independent
from corrbandits.paper import errata
from corrbandits.paper.counterexample import COUNTEREXAMPLE_A
from corrbandits.paper.errata import ERRATA, Erratum, ErratumError, experiments, lemmas, proofs, record, theorems
from corrbandits.policies import CorrelatedUCL
from corrbandits.theory import Sides

BY_NUMBER = {erratum.number: erratum for erratum in ERRATA}


@pytest.mark.parametrize("erratum", ERRATA, ids=lambda erratum: str(erratum.number))
def test_the_finding_holds(erratum):
    assert erratum.check() is None


def test_there_is_one_complete_record_per_finding_in_order():
    assert [erratum.number for erratum in ERRATA] == list(range(1, len(ERRATA) + 1))
    assert len(ERRATA) >= 17
    for erratum in ERRATA:
        for text in (erratum.where, erratum.printed, erratum.corrected, erratum.evidence):
            assert len(text.split()) >= 3, erratum.number
            assert text == text.strip()
        assert erratum.printed != erratum.corrected
    assert len({erratum.check for erratum in ERRATA}) == len(ERRATA)


def test_a_record_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        ERRATA[0].number = 5
    assert errata.Erratum is Erratum is record.Erratum


def test_a_failed_check_is_an_assertion_with_its_figures():
    with pytest.raises(AssertionError, match="does not hold: 3 is not 4"):
        record.require(False, "3 is not 4")


# each of these puts something else in place of what a check measures, and the check notices


def fails(number, match):
    with pytest.raises(ErratumError, match=match):
        BY_NUMBER[number].check()


def test_1_fails_if_the_inequality_ends_elsewhere(monkeypatch):
    monkeypatch.setattr(theory, "quantile_lower", lambda log_alpha: Sides(np.exp(log_alpha), 0.45))
    fails(1, "changes sides at alpha = 0.45")


def test_2_fails_if_the_lemma_needs_no_large_k(monkeypatch):
    right = theory.schedule_lower
    monkeypatch.setattr(theory, "schedule_lower", lambda t, a, K: right(t, a, max(K, 4.2)))
    fails(2, "it does not fail for a = 1.1, K = 1.5")


def test_2_fails_for_another_least_k(monkeypatch):
    monkeypatch.setattr(lemmas, "least_constant", lambda: 2.0)
    fails(2, "the least K is 2.0")


def test_3_fails_if_the_corrected_lemma_does(monkeypatch):
    monkeypatch.setattr(theory, "difference_of_squares", lambda x, y, c1, c2: Sides(c1 * x**2, (x - y) ** 2))
    fails(3, "it fails by")


def test_7_fails_if_nothing_was_initialised(monkeypatch):
    monkeypatch.setattr(theory, "initialisation", lambda belief, nu: [])
    fails(7, "with the samples after initialisation it holds")


def test_8_fails_for_another_covariance_of_the_estimate(monkeypatch):
    right = theory.estimate_covariance
    monkeypatch.setattr(theory, "estimate_covariance", lambda belief, counts: right(belief, counts) * 1.01)
    fails(8, "differ by")


def test_10_fails_if_counts_are_fixed(monkeypatch):
    right = proofs.first_event
    monkeypatch.setattr(
        proofs, "first_event", lambda *args, adaptive=True, **more: right(*args, **more, adaptive=False)
    )
    fails(10, "adaptive counts")


def test_11_fails_if_all_beta_are_alike(monkeypatch):
    right = theory.beta
    monkeypatch.setattr(theory, "beta", lambda *args: np.full(3, right(*args)[0]))
    fails(11, "not above the term with beta_i,")


def test_12_fails_if_the_printed_bound_were_the_corrected_one(monkeypatch):
    right = theory.correlated_bound
    monkeypatch.setattr(theory, "correlated_bound", lambda *args, c1: right(*args[:4], "corrected", c1=c1))
    fails(12, r"for a = 3.065 E\[n_1\] is 5")


def test_12_fails_if_the_counts_stay_below(monkeypatch):
    environment, prior = theorems.counterexample(far=1)
    monkeypatch.setattr(theorems, "counterexample", lambda: (environment, prior))
    fails(12, r"E\[n_1\] is")


def test_12_leads_with_an_a_that_section_3_demands(monkeypatch):
    # Theorem 1's own conditions, on the variances of the counterexample, say whether a is admissible there
    environment, prior = theorems.counterexample()
    alone = Independent(mean=prior.mean, variance=prior.variance, noise_variance=prior.noise_variance)
    theory.uncorrelated_bound(environment, alone, proofs.UCL(a=COUNTEREXAMPLE_A), 20_000, epsilon=0.05)
    with pytest.raises(ValueError, match="Theorem 1 needs a above"):
        theory.uncorrelated_bound(environment, alone, proofs.UCL(a=1.5), 20_000, epsilon=0.05)
    monkeypatch.setattr(theorems, "COUNTEREXAMPLE_A", 2.5)
    fails(12, "section 3 demands an a above 2.737, and it is 2.5")


def test_12_has_the_numbers_that_it_computes():
    text, (environment, prior) = BY_NUMBER[12].evidence, theorems.counterexample()
    for a, c1 in ((3.065, 0.95 / 1.95), (1.5, 0.99)):
        for version in ("printed", "corrected"):
            policy = CorrelatedUCL(a=a)
            total = float(theory.correlated_bound(environment, prior, policy, 20_000, version, c1=c1).total[1])
            assert (f"{total:.1f}" if version == "printed" else f"{total:,.0f}") in text


@pytest.mark.parametrize("u", [0.2, 1.0, 7.0])
def test_3_the_form_is_semidefinite_at_equality(u):
    for sign, c1 in ((1, 1 - u), (-1, 1 + u)):
        c2 = 1 / (1 - c1) - 1
        x, y = np.random.default_rng(0).normal(size=(2, 1000))
        x[0], y[0] = 1.0, 1 - c1  # where the form is 0
        form = (x - y) ** 2 - c1 * x**2 + c2 * y**2
        assert (sign * form >= -1e-12).all()
        assert form[0] == pytest.approx(0, abs=1e-12)


def test_18_holds_for_a_gap_of_0_and_for_a_small_one():
    def sides(delta, under, n, z):
        return norm.sf(math.sqrt((n + delta) / n) * z - delta * under / math.sqrt(n)), norm.sf(z - delta * under)

    for given in ((1.0, 0.0, 9, 2.0), (1.0, -0.1, 2, 1.5), (1.0, -5.0, 1, 2.0)):
        event, middle = sides(*given)
        assert event <= middle
    event, middle = sides(1.0, -5.0, 2, 1.5)
    assert event > middle
    assert "false in general" in BY_NUMBER[18].corrected


def test_19_fails_if_clusters_of_one_arm_need_more(monkeypatch):
    right = theory.initialisation
    monkeypatch.setattr(theory, "initialisation", lambda b, nu: right(b, nu) if b.arms > 3 else [0, 1])
    fails(19, r"\[0, 2\] steps at the threshold")


def test_20_fails_if_the_uninformative_prior_were_initialised_in_another_order(monkeypatch):
    right = lemmas._taken

    def other(policy, belief, steps):
        taken = right(policy, belief, steps)
        return taken[::-1] if np.isinf(belief.variance).any() and isinstance(policy, CorrelatedUCL) else taken

    monkeypatch.setattr(lemmas, "_taken", other)
    fails(20, "the two algorithms take other arms for variance inf")


def test_14_fails_if_b_is_as_large_as_beta(monkeypatch):
    monkeypatch.setattr(theory, "prior_distance", lambda *args: 1_000.0)
    fails(14, "b is 1000")


def test_15_fails_if_there_is_an_initialisation(monkeypatch):
    monkeypatch.setattr(theory, "initialisation", lambda belief, nu: list(range(100)))
    fails(15, "100 initial steps")


def test_16_fails_for_a_slope_of_1(monkeypatch):
    monkeypatch.setattr(experiments, "UCL", lambda a=1.0: proofs.UCL(a=1.0))
    fails(16, "times Lai and Robbins's")


def test_19_fails_if_one_sample_always_does(monkeypatch):
    monkeypatch.setattr(theory, "initialisation", lambda belief, nu: [0, 1, 2])
    fails(19, "3 steps for 3 clusters")


def test_21_fails_if_a_stays_the_same(monkeypatch):
    monkeypatch.setattr(theorems, "UCL", lambda a: proofs.UCL(a=9.0))
    fails(21, "each with its least a")


# what the checks are built on


def test_two_level_limits_tend_to_a_times_lai_robbins():
    counts = [experiments.settled_count(k * math.log(10), a=2.0) for k in (1_000, 1_001)]
    assert (counts[1] - counts[0]) / (2 * math.log(10)) == pytest.approx(2.0, rel=1e-3)


def test_the_least_constant_is_the_supremum():
    u = np.linspace(0, 20, 100_001)
    from scipy.special import log_ndtr

    assert lemmas.least_constant() == pytest.approx(np.exp(-u - log_ndtr(-np.sqrt(1.5 * u))).max(), rel=1e-8)
