"""Five rolling reductions of real series: python examples/reductions/rolling.py.

Each is a monoid, a window, and what a derivative of it tells. With `--pictures FOLDER`
the curves are drawn, too. The series come with the package vega_datasets.
"""

import argparse
import csv
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import pullback
import pullback.numpy as pnp
from pullback import lax

WEEK, MONTH, YEAR = 7, 30, 12


def column(file: str, name: str, where: dict[str, str] | None = None) -> np.ndarray:
    """A column of a table, of the rows that have the given values."""
    spec = find_spec("vega_datasets")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("this example reads the series of `pip install vega_datasets`")
    path = Path(spec.submodule_search_locations[0]) / "_data" / file
    with path.open(encoding="utf-8") as lines:
        rows = [
            row
            for row in csv.DictReader(lines)
            if all(row[k] == v for k, v in (where or {}).items())
        ]
    return np.array([float(row[name]) for row in rows], np.float32)


def prices() -> np.ndarray:
    """The price of a share, month by month, 2000 to 2010."""
    return column("stocks.csv", "price", {"symbol": "AMZN"})


def warmth() -> np.ndarray:
    """The highest temperature of the day in Seattle, 2012 to 2015, in degrees C."""
    return column("seattle-weather.csv", "temp_max")


def rain() -> np.ndarray:
    """Rain of the day in Seattle, in millimetres."""
    return column("seattle-weather.csv", "precipitation")


def hours() -> np.ndarray:
    """Temperatures of a year in San Francisco as a picture: `[days, hours]`."""
    x = column("sf-temps.csv", "temp")
    return x[: len(x) // 24 * 24].reshape(-1, 24)


# ---- 1. the greatest fall of a price within a year ----


def fall(p, q):
    """Combines (highest, lowest, greatest relative fall) of consecutive stretches."""
    across = 1 - q[1] / p[0]
    worst = pnp.maximum(pnp.maximum(p[2], q[2]), across)
    return pnp.maximum(p[0], q[0]), pnp.minimum(p[1], q[1]), worst


def drawdown(x):
    """The greatest relative fall within each window of a year."""
    start = (1e-30, pnp.inf, -pnp.inf)  # the identity: no price at all
    return windows((x, x, pnp.zeros_like(x)), start, fall, YEAR)[2]


# ---- 2. a smooth maximum whose temperature is learned ----


def soft_maximum(x, temperature):
    """Rolling log-sum-exp of a week; close to the maximum at low temperature."""

    def combine(p, q):
        return temperature * pnp.logaddexp(p / temperature, q / temperature)

    # A finite identity: that of -inf / temperature has no derivative.
    return windows(x, -1e30, combine, WEEK)


def learned_temperature(x, steps: int = 40):
    """The temperature at which the smooth maximum predicts the next day best.

    Up to a constant: how far the maximum of a week stands above the next day.
    """
    target = x[WEEK:]
    above = (windows(x, -pnp.inf, lax.max, WEEK)[:-1] - target).mean()

    def loss(log_temperature):
        guess = soft_maximum(x, pnp.exp(log_temperature))[:-1]
        return pnp.mean((guess - above - target) ** 2)

    slope = pullback.jit(pullback.grad(loss))
    value = 0.0
    for _ in range(steps):
        value = value - 0.05 * pnp.tanh(slope(value))
    return pnp.exp(value)


# ---- 3. water in the ground: affine maps, one after the other ----


def compose(f, g):
    """The map `x -> a x + b`, first f and then g."""
    return f[0] * g[0], f[1] * g[0] + g[1]


def moisture(x, keep):
    """What is left of a month's rain if a share `keep` stays from day to day."""
    return windows((pnp.full_like(x, keep), x), (1.0, 0.0), compose, MONTH)[1]


# ---- 4. mean and variance, without cancellation ----


def merge(p, q):
    """Combines (count, mean, sum of squared deviations) of two samples."""
    n = p[0] + q[0]
    share = q[0] / pnp.maximum(n, 1.0)
    apart = q[1] - p[1]
    return n, p[1] + apart * share, p[2] + q[2] + apart**2 * p[0] * share


def moments(x):
    """Mean and variance of each month."""
    ones = pnp.ones_like(x)
    n, mean, squares = windows((ones, x, 0 * x), (0.0, 0.0, 0.0), merge, MONTH)
    return mean, squares / n


# ---- 5. grey-scale dilation of a picture ----


def dilate(picture, sides=(31, 9)):
    """The maximum of the rectangle around each pixel."""
    return lax.reduce_window(picture, -pnp.inf, lax.max, sides, (1, 1), "SAME")


def windows(x, start, combine, k: int):
    """Every window of `k` neighbours."""
    return lax.reduce_window(x, start, combine, (k,), (1,), "VALID")


def main() -> None:
    """Print what the five say, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, help="folder for the drawings")
    folder = parser.parse_args().pictures

    price = pnp.asarray(prices())
    worst = drawdown(price)
    day = int(pnp.argmax(worst))
    blame = pullback.grad(lambda x: drawdown(x)[day])(price)
    months = ", ".join(str(i) for i in np.flatnonzero(np.asarray(blame)))
    print(f"greatest fall within a year: {float(worst[day]):.0%}; months {months}")

    warm = pnp.asarray(warmth())
    temperature = learned_temperature(warm)
    print(f"learned temperature: {float(temperature):.2f} degrees")

    wet = pnp.asarray(rain())
    ground = moisture(wet, 0.9)
    more = pullback.grad(lambda keep: moisture(wet, keep).mean())(0.9)
    print(f"water: {float(ground.mean()):.1f} mm, {float(more):.0f} mm for each keep")

    mean, variance = moments(warm)
    spread = float(variance.max() ** 0.5)
    print(f"warmest month: {float(mean.max()):.1f}, widest spread: {spread:.1f}")

    picture = pnp.asarray(hours())
    bright = dilate(picture)
    share = pullback.grad(lambda x: dilate(x).sum())(picture)
    print(f"pixels that are a maximum: {int((share > 0).sum())} of {picture.size}")
    if folder is not None:
        draw(folder / "drawdown.svg", price / price.max(), worst)
        draw(folder / "smooth-maximum.svg", warm, soft_maximum(warm, temperature))
        draw(folder / "moisture.svg", wet, ground)
        draw(folder / "moments.svg", mean, mean - variance**0.5, mean + variance**0.5)
        draw(folder / "dilation.svg", picture.ravel()[:2000], bright.ravel()[:2000])


def draw(path: Path, *curves) -> None:
    """Curves, the first in grey, as a drawing of 640 x 200."""
    values = [np.asarray(c, np.float64) for c in curves]
    low, high = min(v.min() for v in values), max(v.max() for v in values)
    count = max(map(len, values))
    lines = []
    for color, v in zip(("#bbb", "#c33", "#36c"), values, strict=False):
        right = np.arange(len(v)) + count - len(v)
        points = zip(
            640 * right / count, 195 - 190 * (v - low) / (high - low), strict=True
        )
        text = " ".join(f"{a:.0f},{b:.0f}" for a, b in points)
        lines.append(f'<polyline fill="none" stroke="{color}" points="{text}"/>')
    body = "\n".join(lines)
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="640" height="200">'
    path.write_text(f"{head}\n{body}\n</svg>\n", "utf-8")


if __name__ == "__main__":
    main()
