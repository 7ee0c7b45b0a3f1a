"""The real tables of `make study WHAT=real`. One column of a table is the hidden mean of each arm, the others are its features.

All tables come from this repository or from packages that contain them, so nothing is downloaded. A category becomes one 0/1
column per value. Rows with a missing value are left out.
"""
from dataclasses import dataclass
from pathlib import Path

import numpy as np

DATA = Path(__file__).resolve().parents[2] / "crates/cutline-lab/data"


@dataclass
class Table:
    """`K` arms with features `X` and means `y`."""

    name: str
    mean: str
    features: str
    source: str
    X: np.ndarray
    y: np.ndarray

    @property
    def K(self):
        return len(self.y)

    @property
    def spread(self):
        """The standard deviation of the means, in which noise and precision are stated."""
        return float(self.y.std())

    def thresholds(self):
        """The thresholds by name: that with half of the arms above it, and that with a quarter. A table with two values has only one."""
        chosen = {name: self.threshold(share) for name, share in (("half", 0.5), ("quarter", 0.25))}
        if chosen["half"] == chosen["quarter"]:
            del chosen["quarter"]
        return chosen

    def threshold(self, share):
        """The threshold with this share of the arms above it, midway between two neighbouring means, so that no arm is on it."""
        values = np.unique(self.y)
        middles = (values[1:] + values[:-1]) / 2
        above = (self.y > middles[:, None]).mean(axis=1)
        return float(middles[np.argmin(abs(above - share))])


def repository(file, mean):
    import pandas as pd

    frame = pd.read_csv(DATA / file)
    return frame.drop(columns=mean), frame[mean]


def iris():
    return repository("iris.csv", "petal_width")


def wine():
    return repository("wine.csv", "alcohol")


def diabetes():
    return repository("diabetes.csv", "progression")


def cancer():
    from sklearn.datasets import load_breast_cancer

    X, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, 1 - benign


def digits():
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True, as_frame=True)


def penguins():
    from palmerpenguins import load_penguins

    frame = load_penguins().dropna().drop(columns="year")
    return frame.drop(columns="body_mass_g"), frame["body_mass_g"]


def cars():
    from vega_datasets import local_data

    frame = local_data.cars().dropna().drop(columns="Name")
    frame["Year"] = frame["Year"].dt.year
    return frame.drop(columns="Miles_per_Gallon"), frame["Miles_per_Gallon"]


def barley():
    from vega_datasets import local_data

    frame = local_data.barley()
    return frame.drop(columns="yield"), frame["yield"]


def weather():
    from vega_datasets import local_data

    frame = local_data.seattle_weather()
    frame["day"], frame["year"] = frame["date"].dt.dayofyear, frame["date"].dt.year
    return frame[["day", "year", "precipitation", "wind", "weather"]], frame["temp_max"]


def investment():
    from statsmodels.datasets import grunfeld

    frame = grunfeld.load_pandas().data
    return frame.drop(columns="invest"), frame["invest"]


def income():
    from statsmodels.datasets import anes96

    frame = anes96.load_pandas().data.drop(columns="popul")
    return frame.drop(columns="income"), frame["income"]


REPOSITORY, SCIKIT_LEARN = "this repository", "scikit-learn"
VEGA, STATSMODELS = "vega_datasets", "statsmodels"

LOADERS = {
    "iris": (iris, "petal width of a flower", "3 other sizes", REPOSITORY),
    "wine": (wine, "alcohol of a wine", "12 chemical values", REPOSITORY),
    "diabetes": (diabetes, "progression of a disease after a year", "10 values of the patient", REPOSITORY),
    "penguins": (penguins, "body mass of a penguin", "3 sizes, species, island, sex", "palmerpenguins"),
    "cars": (cars, "fuel economy of a car", "6 technical values, origin", VEGA),
    "barley": (barley, "yield of a field", "variety, site, year", VEGA),
    "weather": (weather, "day's highest temperature", "day, year, rain, wind, kind of weather", VEGA),
    "investment": (investment, "investment of a firm in a year", "firm, year, value, capital", STATSMODELS),
    "income": (income, "income class of a voter", "9 answers of the voter", STATSMODELS),
    "cancer": (cancer, "0 benign, 1 malignant", "30 values of the cells", SCIKIT_LEARN),
    "digits": (digits, "digit, 0 to 9", "64 pixels of its image", SCIKIT_LEARN),
}
"""Each table's loader, its mean and its features in words, and the package that contains it."""


def columns(frame):
    """The features as numbers: one 0/1 column per value of a category."""
    import pandas as pd

    texts = [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column])]
    return pd.get_dummies(frame, columns=texts).to_numpy(dtype=float)


def load(name):
    loader, mean, features, source = LOADERS[name]
    X, y = loader()
    return Table(name, mean, features, source, columns(X), y.to_numpy(dtype=float))
