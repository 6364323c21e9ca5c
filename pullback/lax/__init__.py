"""Operations on arrays of equal shapes and dtypes, one a primitive, and control flow.

Plain functions over ops, regions and api; no primitive is defined here.
"""

import pullback.api.install as _install  # noqa: F401

# ---- shape, slicing, indexing ----
from pullback.api.arrays.creation import full as full, full_like as full_like

# ---- linear algebra, fft, convolution ----
from pullback.lax import linalg as linalg

# ---- elementwise ----
# ---- control flow ----
from pullback.lax.branches import cond as cond, switch as switch

# ---- collectives ----
from pullback.lax.collectives import (
    all_gather as all_gather,
    all_to_all as all_to_all,
    axis_index as axis_index,
    axis_size as axis_size,
    pmax as pmax,
    pmean as pmean,
    pmin as pmin,
    ppermute as ppermute,
    pshuffle as pshuffle,
    psum as psum,
    psum_scatter as psum_scatter,
)
from pullback.lax.control_flow import (
    map as map,
    scan as scan,
)
from pullback.lax.convolution import (
    conv as conv,
    conv_general_dilated_patches as conv_general_dilated_patches,
    conv_transpose as conv_transpose,
    conv_with_general_padding as conv_with_general_padding,
)

# ---- reductions and windows with any combiner ----
from pullback.lax.monoids import check_monoid as check_monoid
from pullback.lax.reductions import (
    associative_scan as associative_scan,
    reduce as reduce,
)
from pullback.lax.shaping import (
    broadcast as broadcast,
    broadcast_shapes as broadcast_shapes,
    broadcast_to_rank as broadcast_to_rank,
    collapse as collapse,
    tile as tile,
)
from pullback.lax.slicing import (
    dynamic_index_in_dim as dynamic_index_in_dim,
    dynamic_slice as dynamic_slice,
    dynamic_slice_in_dim as dynamic_slice_in_dim,
    dynamic_update_index_in_dim as dynamic_update_index_in_dim,
    dynamic_update_slice as dynamic_update_slice,
    dynamic_update_slice_in_dim as dynamic_update_slice_in_dim,
)
from pullback.lax.while_loops import (
    fori_loop as fori_loop,
    while_loop as while_loop,
)
from pullback.lax.windows import reduce_window as reduce_window
from pullback.ops.bits import (
    clz as clz,
    population_count as population_count,
    shift_left as shift_left,
    shift_right_arithmetic as shift_right_arithmetic,
    shift_right_logical as shift_right_logical,
)
from pullback.ops.complex import (
    abs as abs,
    complex as complex,
    conj as conj,
    imag as imag,
    real as real,
    sign as sign,
)

# ---- reductions, contractions, sorting ----
from pullback.ops.contract import (
    Precision as Precision,
    batch_matmul as batch_matmul,
    dot as dot,
    dot_general as dot_general,
)
from pullback.ops.convert import (
    bitcast_convert_type as bitcast_convert_type,
    convert_element_type as convert_element_type,
    reduce_precision as reduce_precision,
    stop_gradient as stop_gradient,
)
from pullback.ops.convolution import conv_general_dilated as conv_general_dilated
from pullback.ops.convolution_shapes import (
    ConvDimensionNumbers as ConvDimensionNumbers,
    conv_dimension_numbers as conv_dimension_numbers,
    padtype_to_pads as padtype_to_pads,
)
from pullback.ops.cumulative import (
    cumlogsumexp as cumlogsumexp,
    cummax as cummax,
    cummin as cummin,
    cumprod as cumprod,
    cumsum as cumsum,
)
from pullback.ops.dimensions import (
    GatherDimensionNumbers as GatherDimensionNumbers,
    GatherScatterMode as GatherScatterMode,
    ScatterDimensionNumbers as ScatterDimensionNumbers,
)
from pullback.ops.elementwise import (
    RoundingMethod as RoundingMethod,
    add as add,
    ceil as ceil,
    div as div,
    floor as floor,
    is_finite as is_finite,
    mul as mul,
    neg as neg,
    nextafter as nextafter,
    reciprocal as reciprocal,
    rem as rem,
    round as round,
    sub as sub,
)
from pullback.ops.fft import FftType as FftType, fft as fft
from pullback.ops.hyperbolic import (
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    cosh as cosh,
    sinh as sinh,
)
from pullback.ops.index import (
    gather as gather,
    scatter as scatter,
    scatter_add as scatter_add,
)
from pullback.ops.iota import broadcasted_iota as broadcasted_iota, iota as iota
from pullback.ops.joining import (
    concatenate as concatenate,
    split as split,
)
from pullback.ops.logic import (
    bitwise_and as bitwise_and,
    bitwise_not as bitwise_not,
    bitwise_or as bitwise_or,
    bitwise_xor as bitwise_xor,
    clamp as clamp,
    eq as eq,
    ge as ge,
    gt as gt,
    le as le,
    lt as lt,
    max as max,
    min as min,
    ne as ne,
    select as select,
    select_n as select_n,
)
from pullback.ops.powers import (
    cbrt as cbrt,
    integer_pow as integer_pow,
    pow as pow,
    rsqrt as rsqrt,
    sqrt as sqrt,
    square as square,
)
from pullback.ops.reduce import (
    argmax as argmax,
    argmin as argmin,
    reduce_and as reduce_and,
    reduce_max as reduce_max,
    reduce_min as reduce_min,
    reduce_or as reduce_or,
    reduce_prod as reduce_prod,
    reduce_xor as reduce_xor,
)
from pullback.ops.scatter import (
    scatter_max as scatter_max,
    scatter_min as scatter_min,
    scatter_mul as scatter_mul,
)
from pullback.ops.shape import (
    broadcast_in_dim as broadcast_in_dim,
    expand_dims as expand_dims,
    reduce_sum as reduce_sum,
    reshape as reshape,
    squeeze as squeeze,
    transpose as transpose,
)
from pullback.ops.slicing import (
    index_in_dim as index_in_dim,
    pad as pad,
    rev as rev,
    slice as slice,
    slice_in_dim as slice_in_dim,
)
from pullback.ops.sort import (
    sort as sort,
    sort_key_val as sort_key_val,
    top_k as top_k,
)
from pullback.ops.special import (
    digamma as digamma,
    erf as erf,
    erf_inv as erf_inv,
    erfc as erfc,
    lgamma as lgamma,
    polygamma as polygamma,
    zeta as zeta,
)
from pullback.ops.transcendental import (
    cos as cos,
    exp as exp,
    exp2 as exp2,
    expm1 as expm1,
    log as log,
    log1p as log1p,
    logistic as logistic,
    sin as sin,
    tan as tan,
    tanh as tanh,
)
