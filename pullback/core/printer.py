"""The text of a jaxpr, in the form that people and tools know.

    { lambda ; a:f32[3]. let b:f32[3] = mul a 2.0:f32[] in (b,) }

Every piece of it is marked with the equation and the role it plays, from which maps
to the source are made. Importing this module gives jaxprs their `repr`.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pullback.core import dtype as dtypes
from pullback.core.document import (
    EMPTY,
    HARD_LINE,
    SPACE,
    Doc,
    Region,
    concat,
    fitting,
    group,
    join,
    layout,
    line,
    nest,
    printable,
    text,
)
from pullback.core.jaxpr import (
    Atom,
    ClosedJaxpr,
    DropVar,
    Jaxpr,
    JaxprEqn,
    Literal,
    Printed,
    Var,
    all_eqns,
    subjaxprs,
)
from pullback.core.provenance import Origin

WIDTH = 80


class Mark(NamedTuple):
    """What a region of the text is.

    `owner`: the equation, or the jaxpr of a header or result. `role`: one of `binder
    primitive operand parameter result header`, or, of no width, `end` where an
    equation ends and `resume` where its text goes on after a body. `key`: the number
    of the binder, operand, result or argument, or the name of the parameter.
    """

    owner: JaxprEqn | Jaxpr
    role: str
    key: int | str | None = None


def pretty(
    program: Jaxpr | ClosedJaxpr | JaxprEqn,
    *,
    source_info: bool = False,
    width: int = WIDTH,
) -> str:
    """The text of a program.

    Args:
      program: a jaxpr, closed or not, or one equation.
      source_info: add the source line of each equation and the transformations that
        made it.
      width: columns to fill.
    """
    return marked(program, source_info=source_info, width=width)[0]


def marked(
    program: Jaxpr | ClosedJaxpr | JaxprEqn,
    *,
    source_info: bool = False,
    width: int = WIDTH,
) -> tuple[str, Sequence[Region]]:
    """The text of a program, and where in it each `Mark` is found."""
    writer = _Writer(source_info)
    if isinstance(program, JaxprEqn):
        return layout(writer.equation(program, {}), width)
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    return layout(writer.program(jaxpr), width)


def variable_name(i: int) -> str:
    """The name of variable `i`: a, b, ..., z, ba, bb, ..."""
    name = ""
    while True:
        i, letter = divmod(i, 26)
        name = chr(97 + letter) + name
        if not i:
            return name


_EQUALS = text(" = ")
Names = dict[Var, str]  # within one jaxpr: an inner jaxpr sees no outer variable


class _Writer:
    """Names variables as it meets them and builds the document of a program."""

    def __init__(self, source_info: bool):
        self.source_info = source_info
        self.count = 0
        self.shared: dict[Jaxpr, str] = {}

    def program(self, jaxpr: Jaxpr) -> Doc:
        """A jaxpr after the bodies that it calls more than once."""
        definitions = []
        for body, name in _called_often(jaxpr):
            doc = self.jaxpr(body, {})
            definitions += [text(f"let {name} = "), doc, text(" in"), HARD_LINE]
            self.shared[body] = name
        return concat(*definitions, self.jaxpr(jaxpr, {}))

    def jaxpr(self, jaxpr: Jaxpr, names: Names) -> Doc:
        read = {v for eqn in jaxpr.eqns for v in eqn.invars}
        read.update(jaxpr.outvars)
        for eqn in jaxpr.eqns:
            names.update((v, "_") for v in eqn.outvars if v not in read)
        header = concat(
            text("{ lambda "),
            self.binders(jaxpr.constvars, names, jaxpr, "header", 0),
            text("; "),
            self.binders(jaxpr.invars, names, jaxpr, "header", len(jaxpr.constvars)),
            text(". let"),
        )
        ends = HARD_LINE if self.source_info and jaxpr.eqns else line("; ")
        body = join(ends, [self.equation(eqn, names) for eqn in jaxpr.eqns])
        return group(
            concat(
                header,
                nest(4, concat(line(), body)),
                nest(2, concat(line(), text("in "), self.results(jaxpr, names))),
                text(" }"),
            )
        )

    def binders(
        self, variables: Sequence[Var], names: Names, owner, role: str, first: int
    ) -> Doc:
        """Variables with their types; long lists fill lines."""
        docs: list[Doc] = []
        for i, v in enumerate(variables):
            spelled = f"{self.name(v, names)}:{v.aval.short()}"
            marked = text(spelled, Mark(owner, role, first + i))
            docs.append(group(concat(line(), marked)) if docs else marked)
        return docs[0] if len(docs) == 1 else nest(4, concat(*docs))

    def name(self, v: Var, names: Names) -> str:
        """The name of a variable, the next one when it has none yet."""
        found = "_" if type(v) is DropVar else names.get(v)
        if found is None:
            found = names[v] = variable_name(self.count)
            self.count += 1
        return found

    def results(self, jaxpr: Jaxpr, names: Names) -> Doc:
        docs = [
            text(atom_text(v, names), Mark(jaxpr, "result", i))
            for i, v in enumerate(jaxpr.outvars)
        ]
        if len(docs) == 1:
            return concat(text("("), docs[0], text(",)"))
        return concat(text("("), join(text(", "), docs), text(")"))

    def equation(self, eqn: JaxprEqn, names: Names) -> Doc:
        """An equation: on one line where it fits, else broken between its parts."""
        if eqn.params and next(subjaxprs(eqn), None) is not None:
            parts = [self.broken(eqn, names)]
        else:
            pieces = self.pieces(eqn, names)
            parts = [fitting(pieces, lambda: self.broken(eqn, names))]
        if self.source_info:
            parts.append(text(f"  # {source_text(eqn.source)}"))
        return concat(*parts)

    def pieces(self, eqn: JaxprEqn, names: Names) -> list[tuple[str, Any]]:
        """The text of an equation without bodies, on one line."""
        pieces: list[tuple[str, Any]] = []
        made = tuple.__new__  # in C, where a named tuple's own is in Python
        for i, v in enumerate(eqn.outvars):
            spelled = f"{self.name(v, names)}:{v.aval.short()}"
            if i:
                pieces.append((" ", None))
            pieces.append((spelled, made(Mark, (eqn, "binder", i))))
        if pieces:
            pieces.append((" = ", None))
        mark = made(Mark, (eqn, "primitive", None))
        pieces.append((eqn.primitive.name, mark))
        if eqn.params:
            opening = "["
            for key, x in shown_params(eqn):
                pieces.append((opening, None))
                pieces.append((f"{key}=", Mark(eqn, "parameter", key)))
                pieces.append((printable(value_text(x)), None))
                opening = " "
            if opening == " ":
                pieces.append(("]", None))
        for i, v in enumerate(eqn.invars):
            if not isinstance(v, Literal):  # an equation by itself names its operands
                self.name(v, names)
            pieces.append((" ", None))
            spelled = atom_text(v, names)
            pieces.append((spelled, made(Mark, (eqn, "operand", i))))
        pieces.append(("", made(Mark, (eqn, "end", None))))
        return pieces

    def broken(self, eqn: JaxprEqn, names: Names) -> Doc:
        """An equation whose parts may stand on lines of their own."""
        left = self.binders(eqn.outvars, names, eqn, "binder", 0)
        for v in eqn.invars:
            if not isinstance(v, Literal):
                self.name(v, names)
        parts = [left, _EQUALS] if eqn.outvars else []
        parts.append(text(eqn.primitive.name, Mark(eqn, "primitive")))
        if eqn.params:
            parts.append(self.parameters(eqn, names))
        operands: list[Doc] = []
        for i, v in enumerate(eqn.invars):
            doc = text(atom_text(v, names), Mark(eqn, "operand", i))
            operands += (SPACE, doc) if i == 0 else [group(concat(line(), doc))]
        parts += operands if len(operands) < 3 else [nest(2, concat(*operands))]
        return concat(*parts, text("", Mark(eqn, "end")))

    def parameters(self, eqn: JaxprEqn, names: Names) -> Doc:
        shown = shown_params(eqn)
        if not shown:
            return EMPTY
        docs = [
            concat(
                text(f"{key}=", Mark(eqn, "parameter", key)),
                self.value(x, eqn, names),
            )
            for key, x in shown
        ]
        return _bracketed("[", docs, "]")

    def value(self, x: Any, eqn: JaxprEqn, names: Names) -> Doc:
        """The text of a parameter; bodies are printed in full, or by their name."""
        if isinstance(x, ClosedJaxpr):
            x = x.jaxpr
        if isinstance(x, Jaxpr):
            known = self.shared.get(x)
            if known is not None:
                return text(known)
            body = self.jaxpr(x, _call_names(eqn, x, names))
            return concat(body, text("", Mark(eqn, "resume")))
        if isinstance(x, tuple) and any(isinstance(i, ClosedJaxpr) for i in x):
            return _bracketed("(", [self.value(i, eqn, names) for i in x], ")")
        return text(value_text(x))


def _bracketed(left: str, docs: Iterable[Doc], right: str) -> Doc:
    inner = nest(2, concat(line(""), join(line(), docs)))
    return group(concat(text(left), inner, line(""), text(right)))


def _called_often(jaxpr: Jaxpr) -> list[tuple[Jaxpr, str]]:
    """Bodies of more than one call, inner ones first, each with a name of its own."""
    calls: dict[Jaxpr, list[str]] = {}
    for eqn in all_eqns(jaxpr):
        if eqn.primitive.name == "jit":
            body = eqn.params["jaxpr"].jaxpr
            calls.setdefault(body, []).append(str(eqn.params["name"]))
    often, taken = [], set()
    for body, names in reversed(calls.items()):
        if len(names) > 1:
            name = stem = re.sub(r"\W", "_", names[0])
            number = 0
            while name in taken:
                number += 1
                name = f"{stem}{number}"
            taken.add(name)
            often.append((body, name))
    return often


def _call_names(eqn: JaxprEqn, body: Jaxpr, outer: Names) -> Names:
    """Variables of a call's body go by the names of its operands and results."""
    names: Names = {}
    if eqn.primitive.name != "jit" or len(body.invars) != len(eqn.invars):
        return names
    inner: list[Atom] = [*body.invars, *body.outvars]
    for inside, outside in zip(inner, [*eqn.invars, *eqn.outvars], strict=True):
        if isinstance(outside, Literal) or isinstance(inside, Literal):
            continue
        name = outer.get(outside, "_")
        if name != "_" and inside not in names and name not in names.values():
            names[inside] = name
    return names


def atom_text(atom: Atom, names: Names) -> str:
    """A variable's name, or a literal with its type."""
    if not isinstance(atom, Literal):
        return names[atom]
    value = atom.val
    if not isinstance(atom.aval.dtype, dtypes.ExtendedDType):
        value = np.asarray(value).astype(atom.aval.dtype).item()
    return f"{value}:{atom.aval.short()}"


def shown_params(eqn: JaxprEqn) -> list[tuple[str, Any]]:
    """The parameters to print, in order; those that the types imply are left out."""
    name, params = eqn.primitive.name, eqn.params
    first = ["name"] if "name" in params else []
    keys = first + sorted(k for k in params if k not in first)
    if name == "broadcast_in_dim":
        keys = ["broadcast_dimensions"] if params["broadcast_dimensions"] else []
    elif name == "dot_general":
        keys = [k for k in keys if params[k] is not None]
        dims = params["dimension_numbers"]
        params = {**params, "dimension_numbers": tuple((*map(list, x),) for x in dims)}
    return [(k, params[k]) for k in keys]


def value_text(x: Any) -> str:
    """A parameter's value: dtypes and functions by name."""
    if isinstance(x, np.dtype | dtypes.ExtendedDType):
        return dtypes.name(x)
    if isinstance(x, tuple) and type(x) is tuple:
        inner = ", ".join(map(value_text, x))
        return f"({inner},)" if len(x) == 1 else f"({inner})"
    if callable(x) and hasattr(x, "__name__"):
        return x.__name__
    return str(x) if not isinstance(x, str) else x


def source_text(source: Origin | None) -> str:
    """The user's line, and how transformations came from it to the equation."""
    if source is None:
        return "?"
    frame = source.user_frame()
    words = [str(frame) if frame is not None else "?"]
    if source.trail:
        words.append(", ".join(_STEPS.get(step, step) for step in source.trail))
    return " ".join(words)


_STEPS = {
    "jvp": "differentiated",
    "linearize": "linearized",
    "transpose": "transposed",
    "vmap": "batched",
}


Printed.write = staticmethod(pretty)
