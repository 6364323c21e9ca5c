"""Write the pages that the browser is driven on: python tests/explorer/pages.py DIR.

`program`: what a user has. `hostile`: a source and names that try to run script.
`large`: 100,000 equations.
"""

import importlib.util
import sys
import time
from pathlib import Path

import pullback
import pullback.numpy as np

HOSTILE = """\
import pullback
import pullback.numpy as np
# </script><img src=x onerror="document.title='taken'"><!-- \\u2028


def inner(x):
    return np.sin(x) * 2.0


inner.__name__ = 'x"><img src=q onerror="document.title=1">'
wrapped = pullback.jit(inner)


def f(x):
    y = wrapped(x)
    return np.cos(y) + np.sum(y)
"""
PROGRAM = """\
import pullback
import pullback.numpy as np


@pullback.jit
def act(x):
    return np.tanh(x)


def net(params, x):
    for w, b in params:
        x = act(np.dot(x, w) + b)
    return x


def loss(params, x, target):
    gap = net(params, x) - target
    return np.sum(gap * gap)


gradient = pullback.grad(loss)
"""


def load(folder: Path, name: str, text: str):
    """A module of this text."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def long(x):
    for _ in range(50_000):
        y = np.sin(x)
        x = y * x
    return x


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    hostile = load(folder, "hostile", HOSTILE)
    told = pullback.explain(hostile.f)(np.ones(3))
    assert told.html() == pullback.explain(hostile.f)(np.ones(3)).html()
    told.save(folder)
    (folder / "hostile.html").write_text(told.html())

    program = load(folder, "program", PROGRAM)
    params = [(np.ones((64, 128)), np.ones(128)), (np.ones((128, 8)), np.ones(8))]
    args = params, np.ones((32, 64)), np.zeros((32, 8))
    old = pullback.explain(program.loss)(*args)
    told = pullback.explain(program.gradient)(*args)
    told.save(folder)
    (folder / "program.html").write_text(told.html())
    (folder / "difference.html").write_text(told.html(old))

    told = pullback.explain(long, levels=("jaxpr", "stablehlo"))(1.0)
    told.save(folder)
    start = time.process_time()
    page = told.html()
    (folder / "large.html").write_text(page)
    size = (folder / "large.html").stat().st_size
    print(f"large page: {size / 1e6:.1f} MB in {time.process_time() - start:.1f} s")
    assert size <= 25e6


if __name__ == "__main__":
    main(Path(sys.argv[1]))
