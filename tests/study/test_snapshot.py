"""One read is one state: snapshots, studies in a journal of one's own, and what surprises by two formulas."""

import numpy as np
import pytest

import corrbandits as cb
from corrbandits.study import Study, Trial
from corrbandits.study.report.surprises import SURPRISING, surprises
from tests.support.contracts import GAUSSIAN_PRIORS
from tests.support.skeletons import MemoryJournal
from tests.support.studies import LINE, bits, related


class Counting(MemoryJournal):
    """A journal that counts how often it is read."""

    reads = 0

    def read(self, study, after, known=None):
        self.reads += 1
        return super().read(study, after, known)


@pytest.fixture
def journal():
    return Counting()


@pytest.fixture
def study(journal):
    study = Study.create(journal, "meadow", prior=related(), policy=cb.CorrelatedUCL(a=2.0), arms=list("abcdef"))
    for trial in study.ask(4):
        study.tell(trial, 30.0 + trial.number)
    study.cancel(study.ask())
    study.ask()
    study.observe("c", 31.0)
    return study


ONE_READ = {
    "snapshot": lambda study: study.snapshot(),
    "belief": lambda study: study.belief,
    "arms": lambda study: study.arms,
    "t": lambda study: study.t,
    "trials": lambda study: study.trials,
    "open_trials": lambda study: study.open_trials,
    "reward": lambda study: study.reward(1),
    "best": lambda study: study.best(),
    "noise": lambda study: study.noise(),
    "surprises": lambda study: study.surprises(),
    "overview": lambda study: study.overview(),
    "show": lambda study: study.show(),
    "history": lambda study: study.history(),
    "to_csv": lambda study: study.to_csv(),
    "explain": lambda study: study.explain(3),
    "map": lambda study: cb.maps.study_map(study),
    "tell": lambda study: study.tell(1, 31.0),
    "ask": lambda study: study.ask(2),
}


@pytest.mark.parametrize("name", ONE_READ)
def test_every_question_is_one_read(study, journal, name):
    before = journal.reads
    ONE_READ[name](study)
    assert journal.reads == before + 1


def test_a_snapshot_answers_everything_without_reading_and_stays_as_it_is(study, journal):
    now = study.snapshot()
    before, said = journal.reads, now.show()
    shown = (now.t, now.trials, now.open_trials, now.reward(1), bits(now.belief), now.to_csv(), len(now.ledger.keys))
    with Study.open(journal, "meadow") as other:
        for trial in (study.ask(), *other.ask(2)):
            other.tell(trial, 99.0)
        other.amend(1, -99.0)
        other.add_arms(["g"], coordinates=[6.0])
    study.open_trials  # noqa: B018 - this process's copy of the events goes on, and the snapshot does not
    journal.reads = before
    assert now.show() == said
    assert shown == (
        now.t, now.trials, now.open_trials, now.reward(1), bits(now.belief), now.to_csv(), len(now.ledger.keys)
    )  # fmt: skip
    assert now.arms.count == 6
    assert now.best() == now.overview().best
    assert journal.reads == before
    assert study.snapshot().arms.count == 7


def test_trials_are_all_of_them_whatever_became_of_them(study):
    trials = study.trials
    assert [trial.number for trial in trials] == [1, 2, 3, 4, 5, 6, 7]
    assert all(type(trial) is Trial for trial in trials)
    assert trials[6] == Trial(7, 2, "c") == study.trial(7)
    assert study.open_trials == [trials[5]]
    assert len(trials) == len(study.history())


def test_a_study_lives_in_a_journal_of_ones_own(study, journal, tmp_path):
    study.export(tmp_path / "meadow.jsonl")
    with study.copy("copy") as copied, study.copy("other prior", prior=related(mean=0.0)) as other:
        assert bits(copied.belief) == bits(study.belief) != bits(other.belief)
    with Study.import_(journal, tmp_path / "meadow.jsonl", "imported") as imported:
        assert bits(imported.belief) == bits(study.belief)
    assert Study.list(journal) == ("copy", "imported", "meadow", "other prior")
    with Study.open(journal, "meadow") as again:
        assert again.database == "memory"
        assert again.trials == study.trials
    with study.copy("in a file", url=tmp_path / "survey.db") as copied:
        assert bits(copied.belief) == bits(study.belief)
    with (
        Study.open(tmp_path / "survey.db", "in a file") as kept,
        kept.copy("back", url=journal) as back,
    ):
        assert back.trials == study.trials
    study.delete()
    assert "meadow" not in Study.list(journal)
    with pytest.raises(ValueError, match="memory has no study 'meadow'"):
        Study.open(journal, "meadow")


def test_a_journal_that_was_given_is_not_closed(journal):
    closed = []
    journal.close = lambda: closed.append(True)
    with Study.create(journal, "meadow", prior=related(), policy=cb.UCL()) as study, study.copy("copy"):
        pass
    Study.list(journal)
    with pytest.raises(ValueError, match="no study"):
        Study.open(journal, "none")
    assert not closed


def test_what_is_neither_a_url_nor_a_journal_is_refused():
    for wrong in (3, None, object()):
        with pytest.raises(TypeError):
            Study.open(wrong, "meadow")


KINDS = GAUSSIAN_PRIORS | {
    "vague": cb.Independent(mean=3.0, variance=[np.inf, 4.0, 1.0, np.inf, 2.0, 9.0], noise_variance=1.0),
    "covariance": cb.Correlated(covariance=np.exp(-np.abs(LINE[:, None] - LINE) / 3), noise_variance=0.2),
    "refitting": cb.Refitting(mean=3.0, kernel=2 * cb.Exponential(1.5), coordinates=LINE, noise_variance=0.2),
}


@pytest.mark.parametrize("name", KINDS)
def test_surprises_are_those_that_the_posterior_says(journal, name, monkeypatch):
    """Less the posterior mean, an average of n rewards has variance sigma^2 / n - s^2, and one of them sigma^2 - s^2.

    That is another way there.
    """
    monkeypatch.setattr("corrbandits.study.report.surprises.SURPRISING", 0.01)
    monkeypatch.setattr("corrbandits.study.report.surprises.MOST_APART", 0)  # each by all the others
    prior, rng = KINDS[name], np.random.default_rng(5)
    study = Study.create(journal, "meadow", prior=prior, policy=cb.UCL())
    for arm in rng.integers(0, prior.arms, 9).tolist():
        study.observe(arm, 3.0 + 6 * rng.standard_normal())
    ledger, belief = study.snapshot().ledger, study.belief
    expected = {}
    for arm in np.flatnonzero(belief.counts).tolist():
        D, average = belief.noise_variance[arm] / belief.counts[arm], belief.sums[arm] / belief.counts[arm]
        left = D - belief.variance[arm]
        zs = [(average - belief.mean[arm]) / np.sqrt(left)] if left > 1e-9 * D else []
        rewards = [one.reward for one in ledger.trials if one.arm == arm]
        if len(rewards) > 1:
            zs += [(y - belief.mean[arm]) / np.sqrt(belief.noise_variance[arm] - belief.variance[arm]) for y in rewards]
        expected[arm] = zs
    found = {one.arm: one for one in surprises(ledger)}
    most = {arm: max(map(abs, zs)) for arm, zs in expected.items() if zs}
    large = {arm: far for arm, far in most.items() if far > 0.01}
    assert {arm: abs(one.z) for arm, one in found.items()} == pytest.approx(large, rel=1e-8)
    assert all(min(abs(one.z - z) for z in expected[arm]) <= 1e-8 * abs(one.z) for arm, one in found.items())
    assert found
    zs = [abs(one.z) for one in surprises(ledger)]
    assert zs == sorted(zs, reverse=True)
    for one in found.values():
        assert one.average - one.expected == pytest.approx(one.z * one.deviation, rel=1e-12)
        (alone,) = surprises(ledger, one.trial)
        assert alone == one


def test_what_is_expected_of_an_arm_is_the_prediction_without_its_rewards(journal):
    """Leave the arm's rewards out, and predict their average: mean and variance of that are plain inference."""
    study = Study.create(journal, "meadow", prior=related(), policy=cb.UCL())
    rewards = {0: [31.0, 29.5], 2: [28.0], 3: [90.0, 85.0, 88.0], 5: [33.0]}
    for arm, some in rewards.items():
        for reward in some:
            study.observe(arm, reward)
    first = study.surprises()[0]
    others = [(arm, reward) for arm, some in rewards.items() if arm != 3 for reward in some]
    without = related().observe(*zip(*others, strict=True))
    deviation = np.sqrt(without.variance[3] + 4.0 / 3)
    assert (first.arm, first.average) == (3, pytest.approx(263 / 3))
    assert first.expected == pytest.approx(without.mean[3])
    assert first.deviation == pytest.approx(deviation)
    assert first.z == pytest.approx((263 / 3 - without.mean[3]) / deviation)
    assert first.z > SURPRISING


@pytest.mark.parametrize("name", ["independent", "uninformative", "correlated", "covariance", "refitting"])
def test_a_mistyped_reward_among_others_of_its_arm_is_judged_by_these_too(journal, name):
    """Leave that reward out, and predict it."""
    prior = KINDS[name]
    study = Study.create(journal, "meadow", prior=prior, policy=cb.UCL())
    about = float(prior.mean[1])
    others = [
        (1, about + 0.1),
        (0, about - 0.1),
        (1, about - 0.2),
        (1, about + 0.2),
        (1, about - 0.3),
        (2, about + 0.3),
    ]
    for arm, reward in others[:4]:
        trial = study.observe(arm, reward)
        assert study.snapshot().surprise(trial) is None
    wrong = study.observe(1, 99.0)
    first = study.surprises()[0]
    assert study.snapshot().surprise(wrong) == first
    for arm, reward in others[4:]:
        study.observe(arm, reward)
    first = study.surprises()[0]
    assert (first.arm, first.trial, first.reward, first.average, first.rewards) == (1, wrong.number, 99.0, 99.0, 1)
    if name != "refitting":
        without = prior.observe(*zip(*others, strict=True))
        assert first.expected == pytest.approx(without.mean[1])
        assert first.deviation == pytest.approx(np.sqrt(without.variance[1] + without.noise_variance[1]))
        assert first.z == pytest.approx((99.0 - first.expected) / first.deviation)
    study.amend(wrong, others[0][1])
    assert study.surprises() == []


def test_where_the_covariance_is_singular_to_rounding_nothing_is_said_of_it(journal):
    prior = cb.Correlated(covariance=np.ones((3, 3)), noise_variance=1e-30)
    study = Study.create(journal, "meadow", prior=prior, policy=cb.UCL())
    study.observe(0, 1.0)
    study.observe(1, 1.0)
    assert study.surprises() == []
