"""Where expressions, assignments and functions stand in one parsed file.

Positions are those of `ast` and of code objects: lines from 1, columns in UTF-8 bytes.
"""

import ast
from types import CodeType
from typing import NamedTuple

Span = tuple[int, int, int, int]  # line, column, end line, end column
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Expression(NamedTuple):
    """A piece of source text; `name` is what it says if it is just a name."""

    span: Span
    name: str | None


class Syntax:
    """An index of a file; empty where there is no tree."""

    def __init__(self, tree: ast.Module | None):
        self.nodes: dict[Span, ast.AST] = {}
        self.calls: dict[tuple[int, int], ast.Call] = {}
        self.targets: dict[Span, list[ast.expr]] = {}
        self.functions: dict[int, list[Function]] = {}
        self.imported: set[str] = set()
        for node in ast.walk(tree) if tree is not None else ():
            self._enter(node)

    def _enter(self, node: ast.AST) -> None:
        if isinstance(node, ast.expr | ast.AugAssign):
            self.nodes.setdefault(span_of(node), node)
            if isinstance(node, ast.Call):
                self.calls[(node.end_lineno or 0, node.end_col_offset or 0)] = node
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [(x.asname or x.name).partition(".")[0] for x in node.names]
            self.imported.update(names)
        elif isinstance(node, ast.Assign):
            self._bind(node.targets[0], node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._bind(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self.targets[span_of(node)] = [node.target]
        elif isinstance(node, Function):
            first = getattr(node, "decorator_list", None) or [node]
            self.functions.setdefault(first[0].lineno, []).append(node)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        targets = [target]
        if isinstance(target, ast.Tuple | ast.List):
            targets = target.elts
            if isinstance(value, ast.Tuple) and len(value.elts) == len(targets):
                for one, its in zip(targets, value.elts, strict=True):
                    self._bind(one, its)
                return
        self.targets[span_of(value)] = targets

    def node(self, span: Span) -> ast.AST | None:
        """The expression at `span`; of a call over several lines only the end fits."""
        found = self.nodes.get(span)
        return found if found is not None else self.calls.get(span[2:])

    def arguments(self, span: Span) -> list[Expression]:
        """What the expression at `span` works on."""
        node = self.node(span)
        return [_expression(x) for x in self._operands(node)]

    def _operands(self, node: ast.AST | None) -> list[ast.expr]:
        match node:
            case ast.Call(func=func, args=args, keywords=keywords):
                given = [*args, *(k.value for k in keywords)]
                if isinstance(func, ast.Attribute) and not self._module(func.value):
                    return [func.value, *given]
                return given
            case ast.BinOp(left=left, right=right):
                return [left, right]
            case ast.AugAssign(target=left, value=right):
                return [left, right]
            case ast.UnaryOp(operand=x):
                return [x]
            case ast.Compare(left=left, comparators=rest):
                return [left, *rest]
            case ast.Subscript(value=x, slice=index):
                return [x, index]
            case _:
                return []

    def _module(self, node: ast.expr) -> bool:
        """Whether what stands before the dot of a call is a module."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id in self.imported

    def targets_of(self, span: Span) -> list[Expression]:
        """What the value of the expression at `span` is assigned to."""
        return [_expression(x) for x in self.targets.get(span, ())]

    def function(self, code: CodeType) -> Function | None:
        """The function that a code object was compiled from."""
        found = self.functions.get(code.co_firstlineno, [])
        named = [f for f in found if getattr(f, "name", "<lambda>") == code.co_name]
        if len(named) < 2:
            return named[0] if named else None
        inside = {p for p in code.co_positions() if None not in p}
        return next((f for f in named if _span_order(f.body) in inside), named[0])


def _span_order(body) -> tuple | None:
    """The span of a lambda's body in the order of `co_positions`."""
    if not isinstance(body, ast.expr):
        return None
    line, column, end_line, end_column = span_of(body)
    return line, end_line, column, end_column


def span_of(node) -> Span:
    """Where a node begins and ends."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _expression(node: ast.expr) -> Expression:
    if isinstance(node, ast.Name):
        return Expression(span_of(node), node.id)
    return Expression(span_of(node), None)


def parameter(function: Function, name: str) -> Expression | None:
    """Where a function names its parameter `name`."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    every += [x for x in (given.vararg, given.kwarg) if x is not None]
    for x in every:
        if x.arg == name:
            return Expression(span_of(x), name)
    return None


def returns(function: Function) -> list[ast.expr]:
    """The expressions that a function returns, in order."""
    if isinstance(function, ast.Lambda):
        return [function.body]
    found: list[ast.expr] = []
    todo: list[ast.AST] = list(reversed(function.body))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            todo += reversed(list(ast.iter_child_nodes(node)))
    return found


def call_name(node: ast.AST | None) -> str | None:
    """`lax.fori_loop` of a call of it."""
    return ast.unparse(node.func) if isinstance(node, ast.Call) else None
