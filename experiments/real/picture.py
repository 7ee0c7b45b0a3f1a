"""Wrong calls against budget on some tables, one panel per table."""

PANELS = ("diabetes", "cars", "weather")
NOISE = 0.5
# Colour, marker and dash: colours of Okabe and Ito, as in Cutline's own figures.
STYLES = {
    "mixed": ("mixed", "#d55e00", "*", "-"),
    "linear": ("linear", "#0072b2", "o", "-"),
    "independent": ("independent", "#e69f00", "D", (0, (6, 2))),
    "ridge+own": ("equal measuring, ridge + own mean", "#56b4e9", "^", (0, (4, 2))),
    "forest+own": ("equal measuring, forest + own mean", "#009e73", "v", (0, (6, 2, 1.5, 2))),
    "means": ("equal measuring, means", "#666666", "s", (0, (1.5, 2))),
}


def draw(results, shares, file):
    """Draws the panels whose tables were played, at one noise level, with two standard errors as a band."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams.update({"svg.hashsalt": "cutline", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    panels = [name for name in PANELS if name in results.sizes] or results.names()[:1]
    figure, axes = plt.subplots(1, len(panels), figsize=(3.2 * len(panels), 3.4), squeeze=False, layout="constrained")
    for axis, name in zip(axes[0], panels):
        for entrant, (label, colour, marker, dash) in STYLES.items():
            points = [(share, *results.over_thresholds(name, NOISE, share, entrant)) for share in shares]
            points = [point for point in points if point[1] is not None]
            x, mean, se = ([point[part] for point in points] for part in range(3))
            axis.plot(x, mean, color=colour, marker=marker, ls=dash, lw=1.4, ms=7 if marker == "*" else 4, label=label)
            low, high = ([m + sign * 2 * s for m, s in zip(mean, se)] for sign in (-1, 1))
            axis.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
        axis.set(title=f"{name}, K = {results.sizes[name]:,}", xscale="log", xlabel="measurements T", ylim=(0, None))
        axis.set_xticks(list(shares), list(shares.values()))
        axis.minorticks_off()
    axes[0][0].set_ylabel("arms called wrongly")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(panels), frameon=False)
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)
