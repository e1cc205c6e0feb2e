"""Recovery of parameters and models, and power: against other libraries, limits, and runs that were stopped."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from corrbandits import choices
from corrbandits.choices import Model, Population, spreading
from tests.choices import populations
from tests.choices.populations import MODEL, TRUE

ARMS = populations.ARMS * 2
SEEK = Population.of_law(Model(prior_mean=1.0, exploration=0.0), [-0.5], [[0.04]])
STAY = Population.of_law(Model(prior_mean=1.0, exploration=0.0, temperature=9.0, stickiness="free"), [2.0], [[0.04]])


@pytest.fixture(scope="module")
def recovered():
    return choices.recover(TRUE, ARMS * 2, people=24, horizon=15, seed=5)


def test_ranks_are_correlated_as_scipy_says_and_parameters_are_found(recovered):
    for k, name in enumerate(MODEL.free):
        expected = spearmanr(recovered.given[:, k], recovered.found[:, k]).statistic
        assert recovered.spearman[name] == pytest.approx(expected, abs=1e-10)
        assert expected > 0.6
    errors = recovered.found - recovered.given
    assert recovered.trade_offs[0, 1] == pytest.approx(spearmanr(*errors.T).statistic, abs=1e-10)
    table = recovered.to_dataset()
    temperature = table["given"].sel(parameter="temperature").values
    assert temperature == pytest.approx(np.exp(recovered.given[:, 1]))
    assert str(recovered).startswith("24 people")


def test_kendalls_correlation_counts_pairs_in_the_same_order(recovered):
    """Of all pairs of people, those in the same order less the others; there are no ties."""
    for k, name in enumerate(MODEL.free):
        given, found = (
            np.sign(np.subtract.outer(each[:, k], each[:, k])) for each in (recovered.given, recovered.found)
        )
        people = len(given)
        assert recovered.kendall[name] == pytest.approx((given * found).sum() / (people * (people - 1)), abs=1e-12)


def test_kendalls_correlation_leaves_out_of_its_measure_pairs_that_are_level():
    """People at one end are level: the pairs in order are over the root of those that are not level on either side."""
    given, found = np.array([1.0, 2.0, 3.0, 3.0, 5.0]), np.array([7.0, 7.0, 8.0, 9.0, 7.0])
    signs = [np.sign(np.subtract.outer(each, each)) for each in (given, found)]
    expected = (signs[0] * signs[1]).sum() / np.sqrt(np.prod([np.abs(each).sum() for each in signs]))
    level = choices.Recovery(("length",), given[:, None], found[:, None])
    assert level.kendall["length"] == pytest.approx(expected, abs=1e-12)


def test_people_lie_as_far_from_where_they_are_found_as_their_errors_say(recovered):
    """Standard scores of 48 parameters: their root mean square is 1, give or take 0.1 by chance."""
    sure = np.sqrt([one.covariance.diagonal() for one in recovered.fits.people])
    scores = (recovered.found - recovered.given) / sure
    assert np.sqrt(np.mean(scores**2)) == pytest.approx(1.0, abs=0.35)


def test_pooling_finds_parameters_at_least_as_well_as_one_by_one(recovered):
    alone = choices.recover(TRUE, ARMS * 2, people=24, horizon=15, seed=5, pooled=False)
    assert alone.given.tolist() == recovered.given.tolist()
    away = [np.sqrt(np.mean((one.found - one.given) ** 2)) for one in (alone, recovered)]
    assert away[1] < away[0]


def test_what_was_stopped_goes_on_and_ends_with_the_same_bits(tmp_path, monkeypatch):
    def recover(**more):
        return choices.recover(TRUE, ARMS, people=5, horizon=6, seed=1, pooled=False, **more)

    whole = recover()
    done = []

    def stopping(results, show):
        for result in results:
            done.append(result)
            if len(done) == 2:
                raise KeyboardInterrupt
        return done

    with monkeypatch.context() as patched:
        patched.setattr(spreading, "_gathered", stopping)
        with pytest.raises(KeyboardInterrupt):
            recover(folder=tmp_path)
    assert 2 <= len(list(tmp_path.glob("*.json"))) <= 5
    assert recover(folder=tmp_path).found.tolist() == whole.found.tolist()
    files = sorted(tmp_path.glob("*.json"))
    assert len(files) == 5
    files[0].write_text("{", encoding="utf-8")
    assert recover(folder=tmp_path, threads=2).found.tolist() == whole.found.tolist()
    before = [path.stat().st_mtime_ns for path in files]
    assert recover(folder=tmp_path).fits[0].values == whole.fits[0].values
    assert [path.stat().st_mtime_ns for path in files] == before


@pytest.mark.parametrize("evidence", ["bic", "aic", "left out"])
def test_models_that_differ_are_not_confused(evidence):
    seen = choices.recover_models({"seek": SEEK, "stay": STAY}, ARMS, people=6, horizon=12, evidence=evidence)
    assert seen.matrix.diagonal().min() > 0.8
    assert seen.matrix.sum(axis=1) == pytest.approx([1.0, 1.0])
    best = np.array(["seek", "stay"])[seen.evidence.argmax(axis=2)]
    assert seen.matrix[0, 1] == np.mean(best[0] == "stay")
    assert seen.to_dataset()["matrix"].sel(made_up_by="stay", fitted="stay") == seen.matrix[1, 1]


def test_who_is_described_as_well_by_several_models_counts_for_each_whatever_their_order():
    evidence = np.array([[[-3.0, -3.001, -9.0], [-5.0, -4.0, -4.5]], [[-2.0, -2.0, -2.0], [-7.0, -8.0, -6.0]]])
    evidence = np.concatenate([evidence, evidence[:1]])
    seen = choices.Confusion(("a", "b", "c"), evidence)
    assert seen.matrix[:2] == pytest.approx(np.array([[0.25, 0.75, 0.0], [1 / 6, 1 / 6, 2 / 3]]))
    assert seen.ties.tolist() == seen.to_dataset()["ties"].values.tolist() == [0.5, 0.5, 0.5]
    turned = choices.Confusion(("c", "b", "a"), evidence[:, :, ::-1])
    np.testing.assert_array_equal(turned.matrix[:, ::-1], seen.matrix)


def test_evidence_is_that_of_the_fits():
    seen = choices.recover_models({"seek": SEEK, "stay": STAY}, ARMS, people=2, horizon=8, seed=3)
    own = SEEK.draw(2, [3, 0])[1]
    person = choices.simulate(SEEK.model, own, ARMS, horizon=8, seed=(3, 0, 1))
    assert seen.evidence[0, 1].tolist() == [-choices.fit(person, law.model).bic / 2 for law in (SEEK, STAY)]


def test_a_model_is_not_told_from_itself_and_always_from_one_far_away():
    how = {"people": [4, 30], "rounds": [1, 4], "pool": 12, "experiments": 20, "horizon": 12}
    assert not choices.power(SEEK, SEEK.model, ARMS, **how).share.any()
    far = choices.power(SEEK, STAY.model, ARMS, **how)
    assert far.share[1, 1] == 1.0
    assert (np.diff(far.share, axis=0) >= 0).all()
    assert far.to_dataset()["share"].sel(people=30, rounds=4) == 1.0


def test_what_cannot_be_recovered_is_refused():
    shared = Model(prior_mean=1.0, exploration=0.0, temperature="shared", stickiness="free")
    with pytest.raises(ValueError, match="temperature must be free or fixed here"):
        choices.power(SEEK, shared, ARMS)
    with pytest.raises(ValueError, match='evidence must be "bic", "aic" or "left out"'):
        choices.recover_models({"seek": SEEK}, ARMS, evidence="dic")
    with pytest.raises(ValueError, match="rounds"):
        choices.power(SEEK, STAY.model, ARMS, rounds=[9])
