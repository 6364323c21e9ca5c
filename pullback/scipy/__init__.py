"""Functions of SciPy that transform."""

from pullback.scipy import special as special
