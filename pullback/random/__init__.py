"""Random numbers from explicit keys: a key gives the same numbers wherever it is used.

Draw from a key once; make new ones with `split` and `fold_in`. The numbers are those of
`jax.random`.
"""

from pullback.random.continuous import (
    cauchy as cauchy,
    double_sided_maxwell as double_sided_maxwell,
    exponential as exponential,
    gumbel as gumbel,
    laplace as laplace,
    logistic as logistic,
    lognormal as lognormal,
    maxwell as maxwell,
    normal as normal,
    pareto as pareto,
    rayleigh as rayleigh,
    triangular as triangular,
    truncated_normal as truncated_normal,
    uniform as uniform,
    wald as wald,
    weibull_min as weibull_min,
)
from pullback.random.discrete import (
    bernoulli as bernoulli,
    bits as bits,
    categorical as categorical,
    choice as choice,
    geometric as geometric,
    permutation as permutation,
    rademacher as rademacher,
    randint as randint,
)
from pullback.random.gammas import (
    ball as ball,
    beta as beta,
    chisquare as chisquare,
    dirichlet as dirichlet,
    f as f,
    gamma as gamma,
    generalized_normal as generalized_normal,
    loggamma as loggamma,
    poisson as poisson,
    t as t,
)
from pullback.random.keys import (
    PRNGKey as PRNGKey,
    clone as clone,
    fold_in as fold_in,
    key as key,
    key_data as key_data,
    key_dtype as key_dtype,
    key_impl as key_impl,
    split as split,
    wrap_key_data as wrap_key_data,
)
