"""A stress test made up: data of the right form, cheap, with known shapes; nothing is simulated."""

import itertools

import numpy as np

NOMINAL = {"shift": 0.0, "scale": 1.0, "noise": 0.0, "swap": 0.0}
ACCURACY = {
    "shift": (-23.4, -11.7, 0.0, 11.7, 23.4),
    "scale": (-1.0, 0.0, 1.0, 2.0, 4.0),
    "noise": (0.0, 5.0, 10.0, 20.0),
    "swap": (0.0, 0.25, 0.5, 0.75, 1.0),
}
CONFIDENCE = (0.01, 0.1, 1.0, 10.0, 100.0)
LENGTH = (0.1, 10**-0.5, 1.0, 10**0.5, 10.0)
CANDIDATES = ("printed", "plain", "uninformative", "elimination", "refitting")
TIMES = (10, 32, 100, 316, 1_000)
BASE = 2_000.0


def synthetic(*, accuracy=ACCURACY, confidence=CONFIDENCE, length=LENGTH, kind="shift", runs=12, **attrs):
    """Return a Dataset as a stress test has it: three grids of `kind`, curves of all kinds, survivors at corners."""
    import xarray as xr

    settings = _settings(accuracy, confidence, length, kind)
    corners = [(kind, a, c, 1.0) for a in _ends(accuracy[kind]) for c in _ends(confidence)]
    noise = np.random.default_rng(0).normal(0.0, 0.1, (len(CANDIDATES), runs))
    regret = np.full((len(CANDIDATES), len(settings), runs, len(TIMES)), np.nan)
    for (i, name), (j, setting) in itertools.product(enumerate(CANDIDATES), enumerate(settings)):
        if name in ("elimination", "refitting") and setting not in corners:
            continue
        played = max(runs // 3, 2) if name in ("elimination", "refitting") else runs
        by_time = _level(name, *setting) * (np.array(TIMES) / TIMES[-1]) ** 0.6
        regret[i, j, :played] = by_time * np.exp(noise[i, :played, None])
    columns = list(zip(*settings, strict=True))
    coordinates = {
        name: ("setting", np.array(column))
        for name, column in zip(("kind", "accuracy", "confidence", "length"), columns, strict=True)
    }
    about = {
        "horizon": TIMES[-1], "runs": runs, "seed": 0, "version": "0.1.0", "default_kind": kind, "units": "reward",
        "truth": "two peaks on a 10 x 10 grid", "policy": "CorrelatedUCL(K=4.13, a=3.284, nu=1.0)",
        "candidate": "printed",
    }  # fmt: skip
    return xr.Dataset(
        {
            "regret": (("candidate", "setting", "run", "time"), regret),
            "initialisation": (("candidate", "setting", "run"), regret[..., 0] * 0),
        },
        coords={
            "candidate": list(CANDIDATES),
            "time": list(TIMES),
            "surface": ("run", np.zeros(runs, dtype=int)),
            **coordinates,
        },
        attrs={**about, **attrs},
    )


def _settings(accuracy, confidence, length, kind):
    grids = [(kind, a, c, 1.0) for a in accuracy[kind] for c in confidence]
    grids += [(kind, a, 1.0, n) for a in accuracy[kind] for n in length]
    grids += [(kind, NOMINAL[kind], c, n) for c in confidence for n in length]
    others = [(k, a, 1.0, 1.0) for k, values in accuracy.items() if k != kind for a in values if a != NOMINAL[k]]
    return list(dict.fromkeys(grids + others))


def _ends(values):
    return values[0], values[-1]


def _level(name, kind, accuracy, confidence, length):
    """Return a made-up regret at the horizon: confident and wrong is dear, right and confident cheap."""
    wrong = abs(accuracy - NOMINAL[kind]) / {"shift": 12.0, "scale": 1.0, "noise": 10.0, "swap": 0.5}[kind]
    trust = 1 / (1 + confidence)
    fixed = 0.25 + (wrong * trust * 1.5) ** 2 + 0.3 * np.log10(confidence * 10 + 1) + 0.4 * abs(np.log(length))
    shares = {
        "printed": fixed,
        "plain": 0.9 * fixed + 0.2 * wrong,
        "uninformative": 1.0,
        "elimination": min(fixed, 1.1) * 1.1,
        "refitting": min(fixed, 1.3),
    }
    return BASE * shares[name]
