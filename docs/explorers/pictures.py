"""What was found of the people of the 2018 study, in figures."""

import numpy as np
from explorers.fits import FUNCTION, HORIZON, PLAIN, PRINTED, read
from explorers.tables import PRIOR, ROUGH, TRUE_LENGTHS, gained
from matplotlib.figure import Figure

from corrbandits import plots
from corrbandits.fits.kinds import places


def pictures(data):
    """Return the figures of the page by their names."""
    found = {name: read(one["all"]) for name, one in data.items()}
    return {
        "people-study.png": study_figure(found, data),
        "people-rules.png": rules_figure(found),
        "people-prior.png": prior_figure(found),
    }


def study_figure(found, data):
    """Return how lengths and exploration are spread over people."""
    figure = Figure(figsize=(7.0, 4.4), layout="constrained")
    axes = figure.subplots(len(found), 2)
    for (name, outcomes), (left, right) in zip(found.items(), axes, strict=True):
        _lengths(left, outcomes[FUNCTION], np.array(data[name]["surfaces"]))
        left.set_title(f"{name}: length; dashed: true", loc="left", fontsize=9)
        weights = np.clip([one.values["exploration"] for one in outcomes[FUNCTION]], -1.0, 2.0)
        right.hist(weights, np.linspace(-1.0, 2.0, 31).tolist(), color=plots.COLOURS[2])
        right.axvline(0.0, color="black", linewidth=1.0)
        right.set_title(f"{name}: exploration; below -1 at -1", loc="left", fontsize=9)
        left.set_ylabel("people")
    axes[0][0].legend(frameon=False, fontsize=8, title="surfaces", title_fontsize=8)
    _tidy(axes.ravel())
    return figure


def _lengths(ax, outcomes, kinds):
    """Draw how lengths are spread, on rough and smooth surfaces."""
    lengths = np.clip([one.values["length"] for one in outcomes], 0.05, 10.0)
    edges = np.geomspace(0.05, 10.0, 25).tolist()
    each = [lengths[kinds == k] for k in ROUGH]
    ax.hist(each, edges, label=list(ROUGH.values()), color=plots.COLOURS[:2], stacked=True)
    for k, colour in zip(ROUGH, plots.COLOURS, strict=False):
        ax.axvline(TRUE_LENGTHS[k], color=colour, linewidth=1.5, linestyle=(0, (4, 2)))
    ax.set_xscale("log")
    ax.set_xticks([0.1, 0.3, 1, 3, 10], ["0.1", "0.3", "1", "3", "10"])


def rules_figure(found):
    """Return what each person's rounds left out gain by the factor or the horizon, over the plain index."""
    figure = Figure(figsize=(7.0, 2.2), layout="constrained")
    axes = figure.subplots(1, len(found), sharey=True)
    rivals = (PRINTED, HORIZON)
    for ax, (name, outcomes) in zip(axes, found.items(), strict=True):
        for place, rival in enumerate(rivals):
            gain = gained(outcomes, rival)
            apart = 0.5 * ((np.arange(gain.size) * 0.618034) % 1.0 - 0.5)
            ax.plot(gain, place + apart, ".", color=plots.COLOURS[place], markersize=4, alpha=0.7)
            ax.plot([np.median(gain)] * 2, [place - 0.35, place + 0.35], color="black", linewidth=1.8)
        ax.axvline(0.0, color="black", linewidth=0.8)
        ax.set_xscale("symlog", linthresh=1.0)
        ax.set_xticks([-100, -10, -1, 0, 1, 10], ["-100", "-10", "-1", "0", "1", "10"])
        ax.set_yticks(range(len(rivals)), rivals)
        ax.set_ylim(len(rivals) - 0.5, -0.5)
        ax.set_title(name, loc="left", fontsize=9)
        ax.set_xlabel("log likelihood gained over plain", fontsize=9)
    _tidy(axes)
    return figure


def prior_figure(found):
    """Return prior mean against deviation of each person, coloured by length; those at an end are left out."""
    figure = Figure(figsize=(7.0, 3.2), layout="constrained")
    axes = figure.subplots(1, len(found))
    for ax, (name, outcomes) in zip(axes, found.items(), strict=True):
        where = places(outcomes[PLAIN], PRIOR)
        drawn = ax.scatter(
            where[:, 0], np.exp(where[:, 1]), c=where[:, 2], s=16, cmap="viridis", vmin=np.log(0.2), vmax=np.log(4)
        )
        ax.set_yscale("log")
        ax.set(xlabel="prior mean (reward)", title=None)
        ax.set_title(f"{name}: {len(where)} of {len(outcomes[PLAIN])} people", loc="left", fontsize=9)
    axes[0].set_ylabel("prior deviation (reward)")
    bar = figure.colorbar(drawn, ax=axes, ticks=np.log([0.25, 0.5, 1, 2, 4]))
    bar.ax.set_yticklabels(["0.25", "0.5", "1", "2", "4"])
    bar.set_label("length")
    _tidy(axes)
    return figure


def _tidy(axes):
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
