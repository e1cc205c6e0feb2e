"""Who loses least as the scale of a drift goes from 10 to 100,000 steps: play it, and draw it.

python docs/change.py          # draw docs/change.png from docs/change.json
python docs/change.py --play   # play it anew, into docs/change.json: some minutes
"""

import argparse
import json
from itertools import product
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import corrbandits as cb
from corrbandits import plots

HERE = Path(__file__).parent
SCALES = (10, 30, 100, 300, 1_000, 3_000, 10_000, 100_000)
NAMES = ("stationary", "Drifting, scale told", "Drifting, scale not told", "Windowed, 200", "Discounted, 0.99")
KERNEL, WHERE, NOISE = 4 * cb.Exponential(2.0), cb.landscapes.grid(5, 5), 1.0
HORIZON = 2_000
PATHS = {"Gittins": range(100, 132), "UCL": range(8)}  # Gittins: none on which it was decided how far it looks ahead
RULES = {"Gittins": cb.Gittins, "UCL": lambda horizon: cb.UCL()}


def beliefs(scale):
    """Return what the players believe; all know the covariance of the arms and the noise."""
    prior = cb.Correlated(kernel=KERNEL, coordinates=WHERE, noise_variance=NOISE)
    told, untold = (cb.Drifting(prior=prior, scale=known) for known in (float(scale), (10.0, 100_000.0)))
    made = prior, told, untold, cb.Windowed(prior=prior, window=200), cb.Discounted(prior=prior, factor=0.99)
    return dict(zip(NAMES, made, strict=True))


def lost(rule, scale, path, horizon=HORIZON, names=NAMES):
    """Return what each belief loses per decision on one path, against the best arm of each time."""
    drifting = {"steps": horizon, "scale": float(scale), "noise_variance": NOISE}
    bandit = cb.series.drift(KERNEL, WHERE, seed=np.random.default_rng([path, int(scale)]), **drifting)
    believed, policy = beliefs(scale), RULES[rule](horizon)
    players = {name: (policy, believed[name]) for name in names}
    trace = cb.simulate(players, bandit, horizon, seed=path, record="summary", times=[horizon])
    return {name: float(trace.regret.sel(policy=name).item()) / horizon for name in names}


def played(rules):
    """Return what was lost per decision: by rule, by scale, by belief, on each path."""
    found = {rule: {} for rule in rules}
    for rule, scale in product(rules, SCALES):
        each = [lost(rule, scale, path) for path in PATHS[rule]]
        found[rule][str(scale)] = {name: [round(one[name], 5) for one in each] for name in NAMES}
    return found


def draw(ax, lost):
    """Draw what each belief loses per decision, over the scale."""
    scales = [int(scale) for scale in lost]
    for number, name in enumerate(NAMES):
        values = np.array([lost[str(scale)][name] for scale in scales])
        error = 2 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
        look = {"color": plots.COLOURS[number], "linestyle": plots.DASHES[number], "marker": "o", "markersize": 3}
        ax.errorbar(scales, values.mean(axis=1), error, label=name, linewidth=1.4, capsize=2, **look)
    ax.set(xscale="log", ylim=(0, None), xlabel="scale of the drift (fast: left)")
    ax.spines[["top", "right"]].set_visible(False)


def figure(data):
    """Return the figure: a panel per rule."""
    drawn = Figure(figsize=(7.0, 3.9), layout="constrained")
    panels = drawn.subplots(1, len(RULES), sharey=True)
    for ax, rule in zip(panels, RULES, strict=True):
        draw(ax, data["lost"][rule])
        ax.set_title(f"all play {rule}", loc="left", fontsize=10)
    panels[0].set_ylabel("lost per decision against the best arm")
    drawn.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return drawn


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--play", nargs="*", metavar="RULE", choices=RULES, help="play these rules anew, or all")
    file, rules = HERE / "change.json", parser.parse_args().play
    if rules is not None:
        data = json.loads(file.read_text(encoding="utf-8"))
        data["lost"] |= played(rules or RULES)
        data["paths"] = {rule: len(paths) for rule, paths in PATHS.items()}
        file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    plots.save(figure(json.loads(file.read_text(encoding="utf-8"))), HERE / "change.png")


if __name__ == "__main__":
    main()
