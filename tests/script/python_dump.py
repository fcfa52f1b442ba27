# SPDX-License-Identifier: Apache-2.0
# Prints Python's own syntax tree of each file named (or of standard input) in the form of script_ast_print: the
# oracle of tests/script/run.sh. Knows Python's ast module only.
import ast
import sys

OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@",
    "LShift": "<<", "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^", "UAdd": "+", "USub": "-",
    "Invert": "~", "Not": "not", "And": "and", "Or": "or", "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=",
    "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not", "In": "in", "NotIn": "not in",
}


def operator(node):
    return OPERATORS[type(node).__name__]


def quoted(data):
    data = data if isinstance(data, bytes) else data.encode("utf-8")
    out = "".join("\\" + chr(c) if c in b'"\\' else chr(c) if 32 <= c < 127 else "\\x%02x" % c for c in data)
    return ' "%s"' % out


class Printer:
    def __init__(self, out):
        self.out = out

    def line(self, node, role, indent, text, places):
        place = ""
        if places and hasattr(node, "lineno"):
            place = " @%d:%d-%d:%d" % (node.lineno, node.col_offset + 1, node.end_lineno, node.end_col_offset + 1)
        self.out.append(" " * indent + (role + ": " if role else "") + text + place)

    def all(self, nodes, role, indent, places):
        for node in nodes:
            self.node(node, role, indent, places)

    def some(self, node, role, indent, places):
        if node is not None:
            self.node(node, role, indent, places)

    def node(self, node, role, indent, places=True):
        if node is None:
            self.out.append(" " * indent + role + ": -")
            return
        getattr(self, type(node).__name__)(node, role, indent, places)

    def simple(self, node, role, indent, places, text, **children):
        self.line(node, role, indent, text, places)
        for name, child in children.items():
            name = name.rstrip("_")
            if isinstance(child, list):
                self.all(child, name, indent + 2, places)
            else:
                self.some(child, name, indent + 2, places)

    def Name(self, n, *at):
        self.simple(n, *at, "Name" + quoted(n.id))

    def Constant(self, n, *at):
        value = n.value
        if value is True or value is False or value is None:
            text = str(value)
        elif value is Ellipsis:
            text = "Ellipsis"
        elif isinstance(value, int):
            text = "Integer %d" % value
        elif isinstance(value, float):
            text = "Real %.17g" % value
        elif isinstance(value, complex):
            text = 'Unsupported "an imaginary number"'
        else:
            text = ("String" if isinstance(value, str) else "Bytes") + quoted(value)
        self.simple(n, *at, text)

    def JoinedStr(self, n, role, indent, places):
        self.line(n, role, indent, "FString", places)
        self.parts(n.values, "part", indent + 2)

    def parts(self, nodes, role, indent):
        # Python 3.12 leaves empty strings in some places.
        self.all([n for n in nodes if getattr(n, "value", None) != ""], role, indent, False)

    def FormattedValue(self, n, role, indent, places):
        self.line(n, role, indent, "Formatted" + (" !" + chr(n.conversion) if n.conversion > 0 else ""), False)
        self.node(n.value, "value", indent + 2, False)
        if n.format_spec is not None:
            self.parts(n.format_spec.values, "spec", indent + 2)

    def Tuple(self, n, *at):
        self.simple(n, *at, "Tuple", item=n.elts)

    def List(self, n, *at):
        self.simple(n, *at, "List", item=n.elts)

    def Set(self, n, *at):
        self.simple(n, *at, "Set", item=n.elts)

    def Dict(self, n, role, indent, places):
        self.line(n, role, indent, "Dict", places)
        for key, value in zip(n.keys, n.values):
            self.node(key, "item", indent + 2, places)
            self.node(value, "item", indent + 2, places)

    def Attribute(self, n, *at):
        self.simple(n, *at, "Attribute" + quoted(n.attr), value=n.value)

    def Subscript(self, n, *at):
        self.simple(n, *at, "Subscript", value=n.value, index=n.slice)

    def Slice(self, n, *at):
        self.simple(n, *at, "Slice", lower=n.lower, upper=n.upper, step=n.step)

    def arguments_in_order(self, n):
        start = lambda x: (x.lineno, x.col_offset)
        return sorted(list(n.args if hasattr(n, "args") else n.bases) + list(n.keywords), key=start)

    def Call(self, n, *at):
        self.simple(n, *at, "Call", function=n.func, argument=self.arguments_in_order(n))

    def keyword(self, n, *at):
        self.simple(n, *at, "Keyword" + quoted(n.arg) if n.arg else "DoubleStarred", value=n.value)

    def Starred(self, n, *at):
        self.simple(n, *at, "Starred", value=n.value)

    def UnaryOp(self, n, *at):
        self.simple(n, *at, "Unary " + operator(n.op), operand=n.operand)

    def BinOp(self, n, *at):
        self.simple(n, *at, "Binary " + operator(n.op), left=n.left, right=n.right)

    def BoolOp(self, n, *at):
        self.simple(n, *at, "Boolean " + operator(n.op), operand=n.values)

    def Compare(self, n, *at):
        text = "Compare " + " ".join(operator(op) for op in n.ops)
        self.simple(n, *at, text, operand=[n.left] + n.comparators)

    def IfExp(self, n, *at):
        self.simple(n, *at, "Conditional", then=n.body, test=n.test, else_=n.orelse)

    def Lambda(self, n, role, indent, places):
        self.line(n, role, indent, "Lambda", places)
        self.arguments(n.args, indent + 2, places)
        self.node(n.body, "value", indent + 2, places)

    def asynchronous(self, n, role, indent, places, generators, text, **children):
        if any(g.is_async for g in generators):
            self.line(n, role, indent, 'Unsupported "an asynchronous comprehension"', places)
            role, indent = "value", indent + 2
        children["for"] = generators
        self.simple(n, role, indent, places, text, **children)

    def ListComp(self, n, *at):
        self.asynchronous(n, *at, n.generators, "ListComprehension", element=n.elt)

    def SetComp(self, n, *at):
        self.asynchronous(n, *at, n.generators, "SetComprehension", element=n.elt)

    def GeneratorExp(self, n, *at):
        self.asynchronous(n, *at, n.generators, "Generator", element=n.elt)

    def DictComp(self, n, *at):
        self.asynchronous(n, *at, n.generators, "DictComprehension", key=n.key, value=n.value)

    def comprehension(self, n, *at):
        self.simple(n, *at, "ForClause", target=n.target, in_=n.iter, if_=n.ifs)

    def NamedExpr(self, n, *at):
        self.simple(n, *at, "Named" + quoted(n.target.id), value=n.value)

    def Yield(self, n, *at):
        self.simple(n, *at, 'Unsupported "yield"', value=n.value)

    YieldFrom = Yield

    def Await(self, n, *at):
        self.simple(n, *at, 'Unsupported "await"', value=n.value)

    def Expr(self, n, *at):
        self.simple(n, *at, "Expression", value=n.value)

    def Assign(self, n, *at):
        self.simple(n, *at, "Assign", value=n.value, target=n.targets)

    def AnnAssign(self, n, *at):
        self.simple(n, *at, "AnnotatedAssign", target=n.target, annotation=n.annotation, value=n.value)

    def AugAssign(self, n, *at):
        self.simple(n, *at, "AugmentedAssign " + operator(n.op), target=n.target, value=n.value)

    def If(self, n, *at):
        self.simple(n, *at, "If", test=n.test, body=n.body, else_=n.orelse)

    def For(self, n, *at):
        self.simple(n, *at, "For", target=n.target, in_=n.iter, body=n.body, else_=n.orelse)

    def While(self, n, *at):
        self.simple(n, *at, "While", test=n.test, body=n.body, else_=n.orelse)

    def With(self, n, *at):
        self.simple(n, *at, "With", item=n.items, body=n.body)

    def withitem(self, n, *at):
        self.simple(n, *at, "WithItem", value=n.context_expr, as_=n.optional_vars)

    def wrapped(self, n, role, indent, places, method):
        self.line(n, role, indent, 'Unsupported "async"', places)
        self.in_async = n
        # The statement inside starts after "async", which Python's tree does not place.
        begin = len(self.out)
        method(n, "value", indent + 2, places)
        self.out[begin] = self.out[begin].rpartition(" @")[0]

    def AsyncFor(self, n, *at):
        self.wrapped(n, *at, self.For)

    def AsyncWith(self, n, *at):
        self.wrapped(n, *at, self.With)

    def AsyncFunctionDef(self, n, *at):
        self.wrapped(n, *at, self.FunctionDef)

    def Break(self, n, *at):
        self.simple(n, *at, "Break")

    def Continue(self, n, *at):
        self.simple(n, *at, "Continue")

    def Pass(self, n, *at):
        self.simple(n, *at, "Pass")

    def Return(self, n, *at):
        self.simple(n, *at, "Return", value=n.value)

    def Assert(self, n, *at):
        self.simple(n, *at, "Assert", test=n.test, message=n.msg)

    def Raise(self, n, *at):
        self.simple(n, *at, "Raise", exception=n.exc, from_=n.cause)

    def Delete(self, n, *at):
        self.simple(n, *at, "Delete", target=n.targets)

    def names(self, n, role, indent, places, text):
        self.line(n, role, indent, text, places)
        for name in n.names:
            self.out.append(" " * (indent + 2) + "name: Name" + quoted(name))

    def Global(self, n, *at):
        self.names(n, *at, "Global")

    def Nonlocal(self, n, *at):
        self.names(n, *at, "Nonlocal")

    def Import(self, n, *at):
        self.simple(n, *at, "Import", name=n.names)

    def ImportFrom(self, n, *at):
        self.simple(n, *at, "FromImport" + quoted("." * n.level + (n.module or "")), name=n.names)

    def alias(self, n, *at):
        self.simple(n, *at, "Alias" + quoted(n.name) + (quoted(n.asname) if n.asname else ""))

    def arguments(self, a, indent, places):
        positional = a.posonlyargs + a.args
        defaults = [None] * (len(positional) - len(a.defaults)) + a.defaults
        rows = [(p, d, "positional-only" if i < len(a.posonlyargs) else "plain")
                for i, (p, d) in enumerate(zip(positional, defaults))]
        rows += [(a.vararg, None, "*")] if a.vararg else []
        rows += [(p, d, "keyword-only") for p, d in zip(a.kwonlyargs, a.kw_defaults)]
        rows += [(a.kwarg, None, "**")] if a.kwarg else []
        for parameter, default, kind in rows:
            self.simple(parameter, "parameter", indent, places, "Parameter%s %s" % (quoted(parameter.arg), kind),
                        annotation=parameter.annotation, default=default)

    def type_params(self, n, indent, places):
        for p in getattr(n, "type_params", []):
            kind = {"TypeVar": "plain", "TypeVarTuple": "*", "ParamSpec": "**"}[type(p).__name__]
            self.simple(p, "type", indent, places, "Parameter%s %s" % (quoted(p.name), kind),
                        annotation=getattr(p, "bound", None))

    def FunctionDef(self, n, role, indent, places):
        self.line(n, role, indent, "Function" + quoted(n.name), places)
        self.all(n.decorator_list, "decorator", indent + 2, places)
        self.arguments(n.args, indent + 2, places)
        self.some(n.returns, "returns", indent + 2, places)
        self.type_params(n, indent + 2, places)
        self.all(n.body, "body", indent + 2, places)

    def ClassDef(self, n, role, indent, places):
        self.line(n, role, indent, "Class" + quoted(n.name), places)
        self.all(n.decorator_list, "decorator", indent + 2, places)
        self.type_params(n, indent + 2, places)
        self.all(self.arguments_in_order(n), "base", indent + 2, places)
        self.all(n.body, "body", indent + 2, places)

    def Try(self, n, role, indent, places):
        self.line(n, role, indent, "Try", places)
        if n.finalbody:
            self.out.append(" " * (indent + 2) + "finally: Handler")
            self.all(n.finalbody, "body", indent + 4, places)
        self.all(n.handlers, "handler", indent + 2, places)
        self.all(n.body, "body", indent + 2, places)
        self.all(n.orelse, "else", indent + 2, places)

    TryStar = Try

    def ExceptHandler(self, n, *at):
        self.simple(n, *at, "Handler" + (quoted(n.name) if n.name else ""), type=n.type, body=n.body)

    def Match(self, n, *at):
        self.simple(n, *at, 'Unsupported "match"', value=n.subject)

    def TypeAlias(self, n, *at):
        self.simple(n, *at, 'Unsupported "a type alias"', value=n.value)


def dump(source):
    out = ["Module"]
    Printer(out).all(ast.parse(source).body, "", 2, True)
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.setrecursionlimit(10000)
    for name in sys.argv[1:] or ["/dev/stdin"]:
        with open(name, "rb") as file:
            sys.stdout.buffer.write(dump(file.read()).encode("utf-8"))
