"""Write the files in this folder, with the corrbandits that is installed: see README.md."""

import json
import sys
from pathlib import Path

import numpy as np

import corrbandits as cb

HERE = Path(__file__).parent
FIVE = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0], [1.0, 1.5]]
NOISE = {"coordinates": FIVE, "noise_variance": 2.0}
MIXED = 3 * cb.Matern52((2.0, 1.0)) + cb.Exponential(4.0, distance="cityblock") * cb.RationalQuadratic(1.0, alpha=0.5)
PRIORS = {
    "correlated": cb.Correlated(mean=30.0, kernel=10 * cb.Exponential(3.0), **NOISE),
    "mixed kernel": cb.Correlated(mean=[0.0, 1.0, -1.0, 2.0, 5.0], kernel=MIXED, **NOISE),
    "matrix": cb.Correlated(covariance=np.eye(5) + 1.0, noise_variance=[0.5, 1.0, 2.0, 4.0, 8.0]),
    "implicit": cb.Implicit(mean=30.0, kernel=4 * cb.SquaredExponential(2.0) + cb.Matern32(1.0), **NOISE),
    "independent": cb.Independent(mean=1.0, variance=[0.5, 2.0, np.inf, 1.0, 3.0], noise_variance=1.0),
    "beta": cb.Beta(successes=[0.5, 1.0, 2.0, 7.0, 30.0], failures=2.0),
}
PRIORS["elimination"] = cb.Elimination([PRIORS["correlated"], cb.Correlated(kernel=cb.Exponential(1.0), **NOISE)])
PRIORS["refitting"] = cb.Refitting(mean=30.0, kernel=10 * cb.Exponential(3.0), **NOISE)
POLICIES = {
    "ucl": cb.UCL(K=4.0, a=1.5),
    "correlated ucl": cb.CorrelatedUCL(a=1.5, nu=0.5, factor=False),
    "bayes": cb.BayesUCB(horizon=50, c=1.0),
    "gp": cb.GPUCB(),
    "gradient": cb.KnowledgeGradient(horizon=50),
    "thompson": cb.Thompson(),
    "ucb1": cb.UCB1(scale=2.0),
    "epsilon": cb.EpsilonGreedy(),
    "greedy": cb.Greedy(),
    "uniform": cb.Uniform(),
}
BANDIT = cb.GaussianBandit([0.0, 1.0, 2.0, 1.5, 0.5], 2.0, FIVE)
PLAYERS = {"limits": (cb.CorrelatedUCL(a=1.5), PRIORS["correlated"]), "draws": (cb.Thompson(), PRIORS["correlated"])}
ENSEMBLE = {"policies": PLAYERS, "environment": BANDIT, "horizon": 12, "runs": 2, "seed": 3, "engine": "reference"}


def used(study):
    """Use a study in every way."""
    for reward in (1.0, 0.0, 1.0):
        study.tell(study.ask(), reward)
    study.ask(3)
    study.cancel(5)
    study.observe(1, 1.0, key="notebook-7")
    study.amend(1, 0.0)
    study.retract(2)
    return study


def answers(study):
    """Return what a study says of itself, as JSON can hold it."""
    history = study.history().drop(columns=["asked", "told", "measured"], errors="ignore")
    return {
        "mean": study.belief.mean.tolist(),
        "variance": [str(x) for x in study.belief.variance],
        "history": json.loads(history.to_json(orient="records")),
        "open": [trial.number for trial in study.open_trials],
        "t": study.t,
        "best": study.best().arm,
        "goal": study.settings.goal,
    }


def next_arms(study):
    return [trial.arm for trial in study.ask(2)]


def main():
    url, said = HERE / "studies.db", {}
    studies = {name: (prior, cb.UCL(a=1.5)) for name, prior in PRIORS.items()}
    studies |= {name: (PRIORS["correlated"], policy) for name, policy in POLICIES.items()}
    for number, (name, (prior, policy)) in enumerate(studies.items()):
        goal = "min" if name == "gp" else "max"
        study = used(cb.Study.create(url, name, prior=prior, policy=policy, arms=list("abcde"), seed=number, goal=goal))
        if name == "correlated":
            study.add_arms(["f"], coordinates=[[5.0, 5.0]])
            study.export(HERE / "correlated.jsonl")
        said[name] = answers(study)
        study.close()
    for name in studies:  # in a copy, since asking writes
        here = cb.Study.open(url, name)
        copy = here.copy(f"copy of {name}")
        said[name]["next"] = next_arms(copy)
        copy.delete()
        copy.close()
        here.close()
    cb.simulate(**ENSEMBLE).save(HERE / "trace.nc")
    cb.simulate(**ENSEMBLE, record="summary", times=[1, 5, 12]).save(HERE / "summary.nc")
    cb.simulate(**ENSEMBLE, checkpoint=HERE / "checkpoint")
    few = {"confidence": [0.5, 1.0], "length": [1.0], "accuracy": {"shift": [0.0, 1.0]}, "runs": 2, "survivors": False}
    cb.stress.stress_test(
        cb.CorrelatedUCL(a=1.5), BANDIT, 12, mean=BANDIT.means, kernel=4 * cb.Exponential(2.0), **few
    ).save(HERE / "stress.nc")
    (HERE / "said.json").write_text(
        "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(text)}" for name, text in said.items()) + "\n}\n",
        encoding="utf-8",
    )
    sys.stdout.write(f"corrbandits {cb.__version__}\n")


if __name__ == "__main__":
    main()
