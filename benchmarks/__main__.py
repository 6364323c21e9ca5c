"""Measure and print: python -m benchmarks [--check] [name ...].

Without names every group runs. A missed figure is printed; with `--check` it is also
the exit status.
"""

import argparse
import platform
import sys
from importlib.metadata import version

import benchmarks.library  # noqa: F401  (sets the environment before the libraries)
from benchmarks import (
    dispatch,
    eager,
    hops,
    indexing,
    reductions,
    staging,
    startup,
    steady,
)
from benchmarks.figure import table

GROUPS = {
    "import": startup,
    "hops": hops,
    "staging": staging,
    "calls": dispatch,
    "eager": eager,
    "steady": steady,
    "reductions": reductions,
    "indexing": indexing,
}


def main(arguments: list[str] | None = None) -> int:
    """Run the groups that `arguments` name; returns the exit status."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--check", action="store_true", help="exit 1 on a miss")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in GROUPS:
            parser.error(f"no group {name!r}; there are {', '.join(GROUPS)}")
    figures = []
    for name in options.names or GROUPS:
        print(f"measuring {name} ...", file=sys.stderr)
        figures.extend(GROUPS[name].figures())
    print(_setting())
    print(table(figures))
    missed = sum(figure.missed for figure in figures)
    print(f"{missed} of {sum(figure.bound for figure in figures)} missed")
    return int(options.check and missed > 0)


def _setting() -> str:
    libraries = ", ".join(f"{name} {version(name)}" for name in ("jax", "jaxlib"))
    return f"{libraries}, Python {platform.python_version()}, {platform.machine()}"


if __name__ == "__main__":
    sys.exit(main())
