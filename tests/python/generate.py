# SPDX-License-Identifier: Apache-2.0
# generate.py SEED COUNT: a script of that many lines print(EXPRESSION), random compile-time Python whose integers stay
# in 64 bits. What Python prints for it is what tirc has to print.
import math  # noqa: F401: the expressions use it
import random
import sys

seed, count = int(sys.argv[1]), int(sys.argv[2])
pick = random.Random(seed)
FITS = 2**62


def good(value):
    if isinstance(value, bool):
        return True
    if isinstance(value, int):
        return abs(value) < FITS
    if isinstance(value, float):
        return value == value and abs(value) < 1e15
    if isinstance(value, str):
        return len(value) < 60
    if isinstance(value, (list, tuple)):
        return len(value) < 12 and all(good(v) for v in value)
    return value is None


def leaf(kind):
    if kind == "int":
        return repr(pick.choice([0, 1, 2, 3, 5, 7, 8, 16, 31, 64, 100, 255, 1000, 65536, 2**31, 10**9, -1, -2, -7, -128]))
    if kind == "float":
        return repr(pick.choice([0.0, 0.5, 1.0, 1.5, 2.0, 3.25, 0.1, 1e-3, 100.0, 12345.678, -1.5, -0.25, 1e10]))
    if kind == "str":
        return repr(pick.choice(["", "a", "ab", "tile", "x y", "K,N", "0f", "Warp"]))
    if kind == "bool":
        return pick.choice(["True", "False"])
    return pick.choice(["[1, 2, 3]", "[]", "[5]", "(4, 2, 8, 1)", "list(range(6))", "['b', 'a']"])


def step():
    return pick.choice([1, 1, 2, 3, -1, -2, -3])


def part():
    """A slice: any bounds, any step."""
    bound = lambda: pick.choice(["", str(pick.randrange(-7, 8))])  # noqa: E731
    return f"{bound()}:{bound()}{pick.choice(['', f':{step()}'])}"


def percent():
    """A text for the older formatting: an int, a float and anything."""
    flags = lambda: pick.choice(["", "-", "+", "0", " ", "#", "-+"])  # noqa: E731
    width = lambda: pick.choice(["", "", "3", "8"])  # noqa: E731
    first = flags() + width() + pick.choice(["", "", ".3"]) + pick.choice("dixXo")
    second = flags() + width() + pick.choice(["", ".2", ".0"]) + pick.choice("feEgG")
    return f"%{first}|%{second}|%{pick.choice(['', '-', ''])}{width()}{pick.choice(['', '.2'])}{pick.choice('sr')}"


def make(kind, depth):
    """Text of an expression that has, most of the time, this type."""
    if depth == 0 or pick.random() < 0.15:
        return leaf(kind)
    sub = lambda k: make(k, depth - 1)  # noqa: E731
    if kind == "int":
        return pick.choice(
            [
                lambda: f"({sub('int')} {pick.choice(['+', '-', '*', '//', '%', '&', '|', '^'])} {sub('int')})",
                lambda: f"({sub('int')} {pick.choice(['<<', '>>'])} {pick.randrange(9)})",
                lambda: f"({pick.choice(['-', '~', '+'])}{sub('int')})",
                lambda: f"({sub('int')} if {sub('bool')} else {sub('int')})",
                lambda: f"{pick.choice(['min', 'max'])}({sub('int')}, {sub('int')})",
                lambda: f"abs({sub('int')})",
                lambda: f"len({sub(pick.choice(['list', 'str']))})",
                lambda: f"sum([{sub('int')}, {sub('int')}])",
                lambda: f"int({sub('float')})",
                lambda: f"round({sub('float')})",
                lambda: f"divmod({sub('int')}, {sub('int')})[{pick.randrange(2)}]",
                lambda: f"(lambda x, y={pick.randrange(5)}: x * y - {sub('int')})({sub('int')})",
                lambda: f"sum(x for x in range({pick.randrange(9)}) if x % {pick.randrange(1, 4)} == 0)",
                lambda: f"{{1: {sub('int')}, 2: {sub('int')}}}[{pick.choice([1, 2])}]",
                lambda: f"({sub('int')}) ** {pick.randrange(4)}",
                lambda: f"round({sub('int')}, {pick.randrange(-4, 2)})",
                lambda: f"{sub('str')}.{pick.choice(['find', 'rfind', 'count'])}({sub('str')}, {pick.randrange(-2, 3)})",
                lambda: f"math.{pick.choice(['gcd', 'lcm'])}({sub('int')} % 1000, {sub('int')} % 1000)",
                lambda: f"len(range({pick.randrange(-9, 9)}, {pick.randrange(-9, 9)}, {step()}))",
                lambda: f"({sub('int')} % 4096).bit_length()",
            ]
        )()
    if kind == "float":
        return pick.choice(
            [
                lambda: f"({sub('float')} {pick.choice(['+', '-', '*', '/', '//', '%'])} {sub('float')})",
                lambda: f"({sub('int')} / {sub('int')})",
                lambda: f"(-{sub('float')})",
                lambda: f"abs({sub('float')})",
                lambda: f"float({sub('int')})",
                lambda: f"max({sub('float')}, {sub('float')})",
                lambda: f"round({sub('float')}, {pick.randrange(-5, 4)})",
                lambda: f"math.{pick.choice(['atan', 'sinh', 'erf', 'asinh', 'radians', 'degrees'])}({sub('float')} % 3.0)",
                lambda: f"math.{pick.choice(['fmod', 'atan2', 'copysign', 'remainder'])}({sub('float')}, {sub('float')})",
                lambda: f"math.fsum([{sub('float')}, {sub('float')}, {sub('float')}])",
            ]
        )()
    if kind == "str":
        spec = pick.choice([">8", "<6", "^9", "*^7", "", "d", "05d", "+d", "x", "#x", "b", ",", "o", "_", " d", "08b", "-^+9"])
        real = pick.choice([".2f", "8.3f", "e", ".1e", "g", "", ".3g", ",.2f", "+.1f", "010.2f", "%", ".0%"])
        return pick.choice(
            [
                lambda: f"({sub('str')} + {sub('str')})",
                lambda: f"{sub('str')} * {pick.randrange(3)}",
                lambda: f'f"{{{sub("int").replace(chr(34), chr(39))}:{spec}}}"',
                lambda: f'f"{{{sub("float").replace(chr(34), chr(39))}:{real}}}|"',
                lambda: f"str({sub(pick.choice(['int', 'float', 'list', 'bool']))})",
                lambda: f"{sub('str')}.{pick.choice(['upper', 'lower', 'strip', 'title', 'capitalize'])}()",
                lambda: f"{sub('str')}.replace({leaf('str') if pick.random() < 0 else repr('a')}, {leaf('str')})",
                lambda: f"{sub('str')}[{part()}]",
                lambda: f"({percent()!r} % ({sub('int')}, {sub('float')}, {sub(pick.choice(['str', 'list', 'bool']))}))",
                lambda: f"''.join({sub('str')}.{pick.choice(['partition', 'rpartition'])}({pick.choice(['a', ' ', ','])!r}))",
                lambda: f"{sub('str')}.{pick.choice(['removeprefix', 'removesuffix', 'lstrip'])}({pick.choice(['a', 'ab', ' '])!r})",
                lambda: f"{sub('str')}.{pick.choice(['swapcase', 'casefold', 'rstrip'])}()",
                lambda: f"{sub('str')}.replace({pick.choice(['a', '', 'é'])!r}, {leaf('str')}, {pick.randrange(-1, 3)})",
                lambda: f"str(range({pick.randrange(9)}, {pick.randrange(9)}, {step()})[{part()}])",
                lambda: f"{pick.choice(['hex', 'bin', 'oct', 'repr'])}({sub('int')})",
                lambda: f"'-'.join([{sub('str')}, {sub('str')}])",
                lambda: f"{sub('str')}.{pick.choice(['ljust', 'rjust', 'center', 'zfill'])}({pick.randrange(9)})",
            ]
        )()
    if kind == "bool":
        other = pick.choice(["int", "float", "str", "list"])
        return pick.choice(
            [
                lambda: f"({sub('int')} {pick.choice(['<', '<=', '>', '>=', '==', '!='])} {sub(pick.choice(['int', 'float']))})",
                lambda: f"({sub('str')} {pick.choice(['<', '==', 'in', 'not in'])} {sub('str')})",
                lambda: f"(not {sub(other)})",
                lambda: f"({sub('bool')} {pick.choice(['and', 'or'])} {sub('bool')})",
                lambda: f"bool({sub(other)})",
                lambda: f"{pick.choice(['any', 'all'])}([{sub('bool')}, {sub('int')}])",
                lambda: f"({sub('int')} < {sub('int')} <= {sub('int')})",
                lambda: f"({sub('int')} in {sub('list')})",
                lambda: f"({sub('int')} in range({pick.randrange(-9, 9)}, {pick.randrange(-9, 9)}, {step()}))",
                lambda: f"({{{sub('int')}, {sub('int')}}} {pick.choice(['<', '<=', '>', '>=', '=='])} {{{sub('int')}, 1, 2}})",
                lambda: f"{sub('str')}.{pick.choice(['isspace', 'isupper', 'islower', 'isdigit', 'isidentifier'])}()",
                lambda: f"isinstance({sub(other)}, {pick.choice(['int', 'str', 'float', 'list', '(int, str)'])})",
            ]
        )()
    return pick.choice(
        [
            lambda: f"[{sub('int')}, {sub('float')}, {sub('str')}]",
            lambda: f"[x * {pick.randrange(4)} for x in {sub('list')} if x]",
            lambda: f"sorted([{sub('int')}, {sub('int')}, {sub('int')}]{pick.choice(['', ', reverse=True', ', key=lambda v: -v'])})",
            lambda: f"list({sub('list')})[{part()}]",
            lambda: f"put(list({sub('list')}), slice({pick.randrange(-4, 5)}, {pick.randrange(-4, 5)}), {sub('list')})",
            lambda: f"drop(list({sub('list')}), slice({pick.randrange(-4, 5)}, {pick.randrange(-4, 5)}, {step()}))",
            lambda: f"{sub('str')}.{pick.choice(['split', 'rsplit'])}({pick.choice(['None', repr(' '), repr('a')])}, {pick.randrange(-1, 3)})",
            lambda: f"list(filter(None, {sub('list')}))",
            lambda: f"sorted({{{sub('int')}, {sub('int')}}} {pick.choice(['|', '&', '-', '^'])} {{{sub('int')}, 1}})",
            lambda: f"list(({{'k': {sub('int')}}} | {{{sub('str')}: {sub('int')}}}).items())",
            lambda: f"[*{sub('list')}, {sub('bool')}]",
            lambda: f"list(zip({sub('list')}, {sub('list')}))",
            lambda: f"list(enumerate({sub('list')}))",
            lambda: f"list(map(lambda v: (v, {pick.randrange(3)}), {sub('list')}))",
            lambda: f"list(reversed({sub('list')}))",
            lambda: f"sorted({{{sub('int')}, {sub('int')}}})",
            lambda: f"{sub('str')}.split({pick.choice(['', repr(','), repr('a')])})",
            lambda: f"list({{k: v for k, v in enumerate({sub('list')})}}.items())",
        ]
    )()


def parts_fit(text):
    """Every integer on the way fits: each operand is evaluated by itself too."""
    import ast

    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Call)):
            try:
                value = eval(compile(ast.Expression(node), "", "eval"))
            except NameError:
                continue
            if not good(value) and not callable(value):
                return False
    return True


HELPERS = """import math
def put(items, at, new):
    items[at] = new
    return items
def drop(items, at):
    del items[at]
    return items
"""
exec(HELPERS)
print(HELPERS, end="")
done = 0
while done < count:
    text = make(pick.choice(["int", "int", "float", "str", "bool", "list"]), pick.randrange(1, 5))
    if len(text) > 400 or "\n" in text:
        continue
    try:
        import warnings

        warnings.simplefilter("ignore")
        value = eval(text)
        if good(value) and parts_fit(text) and "\n" not in str(value) and "  " not in str(value)[-2:]:
            print(f"print({text})")
            done += 1
    except (ArithmeticError, TypeError, ValueError, IndexError, KeyError, SyntaxError, RecursionError):
        continue
