"""Functions of SciPy that transform."""

from pullback.scipy import linalg as linalg, special as special
