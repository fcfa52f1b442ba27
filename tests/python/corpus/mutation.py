# SPDX-License-Identifier: Apache-2.0
# Values with two names, changes in place, iterators, slices, older formats, caches, properties that are assigned.
# aliasing and in-place
a = []; b = a; b += [1]; b.append(2); print(a, b is a)
a = {1}; b = a; b |= {2}; print(a)
a = {"x": 1}; b = a; b |= {"y": 2}; print(a)
a = [1]; b = a; b *= 3; print(a)
t = (1,); u = t; u += (2,); print(t, u)
s = "a"; r = s; r += "b"; print(s, r)
class Acc:
    def __init__(self): self.items = []; self.n = 0
    def __iadd__(self, o):
        self.items.append(o); return self
    def __setitem__(self, k, v): self.items.append((k, v))
    def __delitem__(self, k): self.items.append(("del", k))
x = Acc(); y = x; y += 4; x.items += [5]; x[3] = 4; del x[1]; x.n += 2; print(y.items, x.n)
def f(l): l += [9]
q = [1]; f(q); print(q)
calls = []
def k(v):
    calls.append(v); return v
d = {1: 5}
d[k(1)] += 1
print(d, calls)
m = [[0] * 2 for _ in range(2)]; m[0][1] += 5; print(m)
n = [[0] * 2] * 2; n[0][1] = 5; print(n)
it = iter(range(3)); print(list(it), list(it))
g = (v * v for v in range(4)); print(next(g), next(g), sum(g), list(g))
z = zip([1, 2], "ab"); print(list(z), list(z))
m = map(lambda v: v + 1, [1, 2]); print(2 in m, list(m))
e = enumerate("ab"); print(next(e), list(e))
r = reversed([1, 2, 3]); print(next(r), list(r))
print(list(zip(*[[1, 2], [3, 4]])), [*zip("ab", "cd")], dict(enumerate("xy")), tuple(map(str, [1, 2])), sorted(map(int, ["3", "1"])))
a, b, *c = iter([1, 2, 3, 4]); print(a, b, c)
print(max(v for v in [3, 1]), any(v > 2 for v in [1, 3]), ",".join(str(v) for v in range(3)), {k: v for k, v in zip("ab", [1, 2])})
for i, (p, q) in enumerate(zip("ab", [1, 2])): print(i, p, q)
print([v for v in range(10) if v % 2 if v > 3], [(a, b) for a in range(3) for b in "xy"])
def gen(*args): return list(args)
print(gen(*(i for i in range(3)), *map(str, [1])))
print(range(10)[::-1], range(10)[5:2:-1], range(0, 10, 3)[-1], len(range(10, 0, -3)), list(range(10)[8:2:-2]), range(3) == range(0, 3, 1), bool(range(0)), range(1, 10, 3))
print([1, 2, 3][::-1], (1, 2, 3)[-2::-1], "hello"[::-2], "hello"[10:], "hello"[-3:-1], [1][5:], "".join(reversed("abc")))
l = [0, 1, 2, 3]; l[1:1] = ["a", "b"]; print(l); l[:2] = []; print(l); l[-1:] = [7, 8]; print(l); l[::2] = "xyz"; print(l); l[5:1] = [9]; print(l); l[:] = l[::-1]; print(l)
l = list(range(8)); del l[::3]; print(l); del l[-2:]; print(l); del l[5:]; print(l); del l[::-2]; print(l)
print(slice(1, 2), slice(None, None, -1), slice(3) == slice(None, 3, None))
print({1, 2} <= {1, 2, 3}, {1, 2} < {1, 2}, {1} >= set(), {3} > {2}, {1: 2, 3: 4} == {3: 4, 1: 2}, {1, 2} == {2, 1}, [1] == (1,), 1 == True, "1" == 1, None == 0)
print("%5d|%-5d|%05d|%+d|%x|%#x|%o|%e|%.3f|%g|%s|%r|%%|%c|%5s|%-5s|%.2s" % (42, 42, 42, 42, 255, 255, 8, 12345.678, 3.14159, 0.0001, "s", "r", "c", "ab", "ab", "abc"))
print("%d" % 3.9, "%s and %s" % ("a", [1]), "%(x)d-%(y)s" % {"x": 1, "y": 2}, "%*d|%-*d|%.*f" % (5, 1, 5, 2, 2, 3.14159), "%s" % ((1, 2),), "%5.1f%%" % 99.55, "%i" % True, "%.3d" % 5, "% d" % 4)
print(f"{'日本':>5}|{'é':*^5}|{'abc':.2}|{'日本語':.2}|", len("日本"), "日本語"[1:], "日本語"[::-1], list("日本"), "日本".find("本"), "a日b日".count("日"), ord("日"), chr(26085), chr(233), "本" in "日本", "日本".center(6, "-"), "é".zfill(3))
print("a.b.c".rsplit(".", 1), "a b c".split(None, 1), " a  b ".rsplit(None, 1), "  a b  c ".split(maxsplit=1), "".split(), "".split(","), ",".split(","), "aXbXc".split("X", 1), "abc".partition("x"), "abc".rpartition("x"))
print("abab".replace("a", "x", 1), "abc".replace("", "-"), "aaa".count(""), "abcabc".find("c", 3), "abcabc".find("a", 1, 3), "abcabc".rfind("b", 0, 4), "abc".find("", 5), "abc".startswith(("x", "a")), "A1".isupper(), "a1".islower(), "1".isupper(), "ab c".title(), "it's".title(), "hELLO".capitalize(), "Ab".swapcase())
print("x".join(["a"]), " ".join("abc"), "ab\ncd\r\nef".splitlines(), "a\nb\n".splitlines(True), "tab\tx".expandtabs(), "\tx".expandtabs(4))
print(round(1234, -2), round(1250, -2), round(1350, -2), round(-1250, -2), round(5, -1), round(15, -1), round(25, -1), round(1234.5, -2), round(1250.0, -2), round(1350.0, -2), round(99.9, -2), round(49.0, -2), round(51.0, -2), round(50.0, -2), round(9999, -4), round(9.995, 2), round(1e20, -3), round(2.5, 0), round(-0.5), round(123, 2), round(1e300, 2), round(0.5, -1))
print(int("0b101", 0), int("0o17", 0), int("0x1F", 0), int(" 12 "), int("-0b11", 2), int("1_000") if True else 0, float("1e-3"), float(" -2.5\n"), float("inf"), float("-nan") != float("nan"))
print(1 < 2 < 3 < 2 < undefined_thing if True else 0)
print(0 < 1 < 0 and 5, [] and 1, 3 and [], None or "", not [1])
print(hash(1), hash((1, 2)) == hash((1, 2)), hash("a") == hash("a"))
import math
print(math.log(math.e), math.log(100, 10), math.log1p(1e-10), math.expm1(1e-10), math.exp2(3.5), math.atan(1), math.acosh(2), math.remainder(7, 3), math.remainder(-7, 4), math.nextafter(1.0, 2.0), math.factorial(20), math.comb(40, 20), math.perm(5), math.perm(3, 4), math.comb(3, 5), math.isclose(1, 1 + 1e-10), math.isclose(1, 1.1, rel_tol=0.2), math.isclose(0, 1e-10, abs_tol=1e-9), math.fsum([1e100, 1.0, -1e100, 1e-20]), math.fsum([0.1, 0.2, 0.3]), math.hypot(1, 2, 2), math.dist([1, 2], [4, 6]), math.modf(-3.75), math.frexp(0.1), math.ldexp(1.5, -3), math.copysign(3, -0.0), math.trunc(-2.7), math.ceil(-0.5), math.floor(3), math.isqrt(10**18), math.gcd(), math.gcd(0, 5), math.lcm(4, 6, 10), math.prod([2, 3], start=2) if False else 6)
from functools import lru_cache, cache
count = [0]
@lru_cache(maxsize=None)
def fib(n):
    count[0] += 1
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(50), count)
@cache
def sq(x): return x * x
print(sq(3), sq(3), sq(2.5))
class Temp:
    def __init__(self): self._c = 1
    @property
    def c(self): return self._c
    @c.setter
    def c(self, v): self._c = v * 2
    def __eq__(self, o): return self._c == o._c
    def __gt__(self, o): return self._c > o._c
    def __bool__(self): return self._c > 5
    def __neg__(self): return -self._c
    def __invert__(self): return 77
    def __abs__(self): return 88
    def __str__(self): return f"Temp<{self._c}>"
    def __contains__(self, v): return v == self._c
    def __format__(self, spec): return "F" + spec
    def __hash__(self): return 5
    def __index__(self): return 2
    def __float__(self): return 2.5
    def __int__(self): return 3
    def __round__(self): return 9
    def __reversed__(self): return iter([3, 2])
    def __next__(self): return 42
t = Temp(); t.c = 4; print(t.c, -t, ~t, str(t), f"{t!s}", bool(t), not t, 8 in t, 1 if t else 2, t > Temp(), Temp() < t, t and 5, [t][0] == t)
class Empty:
    def __len__(self): return 0
print(bool(Empty()), 1 if Empty() else 2, Empty() or 3, not Empty())
