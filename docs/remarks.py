"""Draw the paper's remarks on priors as they were played: one panel each.

python docs/remarks.py
"""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from corrbandits import plots
from corrbandits.paper import remarks


def line(ax, columns, x, y, number, label, error=None):
    look = {"color": plots.COLOURS[number], "linestyle": plots.DASHES[number], "marker": "o", "markersize": 3}
    around = None if error is None else 2 * columns[error]
    ax.errorbar(columns[x], columns[y], around, label=label, linewidth=1.4, capsize=2, **look)


def draw_confidence(ax):
    columns = remarks.confidence().columns
    line(ax, columns, "prior variance", "swapped", 1, "means swapped", "error of swapped")
    line(ax, columns, "prior variance", "right", 0, "means right", "error of right")
    line(ax, columns, "prior variance", "uninformative", 5, "uninformative")
    ax.set(xscale="log", xlabel="prior variance (confident: left)", ylabel="regret")
    ax.set_yscale("symlog", linthresh=100)
    ax.set_ylim(-10, 60_000)
    ax.set_yticks([0, 100, 1_000, 10_000], ["0", "100", "1,000", "10,000"])


def draw_long_run(ax):
    columns = remarks.long_run().columns
    line(ax, columns, "t", "uninformative", 5, "regret, uninformative")
    line(ax, columns, "t", "lead of right", 0, "lead, means right", "error")
    line(ax, columns, "t", "lead of swapped", 1, "lead, means swapped", "error of it")
    ax.set(xscale="log", xlabel="t", ylabel="regret, and lead over it")


def draw_clusters(ax):
    columns = remarks.clusters().columns
    line(ax, columns, "clusters", "played", 0, "as played")
    line(ax, columns, "clusters", "arms", 5, "arms")
    ax.set(xlabel="clusters", ylabel="initial samples", ylim=(0, None), xticks=columns["clusters"])


def draw_true_scale(ax):
    columns = remarks.true_scale().columns
    line(ax, columns, "length", "share printed", 0, "printed index")
    line(ax, columns, "length", "share plain", 1, "plain index")
    ax.axhline(1.0, color=plots.COLOURS[5], linestyle=plots.DASHES[5], label="uninformative")
    ax.set(xscale="log", xlabel="length, true and assumed", ylabel="regret, relative", ylim=(0, 1.1))


def draw_wrong_scale(ax):
    columns = remarks.wrong_scale().columns
    line(ax, columns, "assumed / true", "printed / bound", 0, "printed index", "error of printed")
    line(ax, columns, "assumed / true", "plain / bound", 1, "plain index", "error of plain")
    line(ax, columns, "assumed / true", "uninformative / bound", 5, "uninformative")
    ax.set(xscale="log", xlabel="assumed length / true length", ylabel="regret / Lai-Robbins bound", ylim=(0, None))


PANELS = {
    "confidence": draw_confidence,
    "the long run": draw_long_run,
    "clusters": draw_clusters,
    "large scales, true": draw_true_scale,
    "large scales, wrongly assumed": draw_wrong_scale,
}


def figure():
    with mpl.rc_context({"font.size": 8, "axes.titlesize": 9, "legend.fontsize": 7}):
        figure = Figure(figsize=(7.0, 6.6), layout="constrained")
        places = figure.add_gridspec(3, 2)
        for i, (title, draw) in enumerate(PANELS.items()):
            ax = figure.add_subplot(places[divmod(i, 2)] if i < 4 else places[2, :])
            draw(ax)
            ax.set_title(title, loc="left", fontweight="bold")
            ax.spines[["top", "right"]].set_visible(False)
            ax.legend(frameon=False)
    return figure


if __name__ == "__main__":
    plots.save(figure(), Path(__file__).parent / "remarks.png")
