# SPDX-License-Identifier: Apache-2.0
# Closures, defaults, star arguments, comprehensions, unpacking, conditions.
# closures and late binding
fs = [lambda: i for i in range(3)]
print([f() for f in fs])
fs = []
for i in range(3):
    def g(x, i=i):
        return x + i
    fs.append(g)
print([f(10) for f in fs])
fs = []
for i in range(3):
    fs.append(lambda x: x * i)
print([f(10) for f in fs])
i = 7
print([f(10) for f in fs])
def outer():
    n = 1
    def inner():
        return n
    n = 5
    return inner
print(outer()())
def counter():
    c = 0
    def inc(k=1):
        nonlocal c
        c += k
        return c
    return inc
c = counter(); c(); c(5)
print(c())
d = counter()
print(d(), c())
def default_mut(x, acc=[]):
    acc.append(x)
    return acc
print(default_mut(1), default_mut(2), default_mut(3, []), default_mut(4))
def star(a, b=2, *rest, c, d=4, **kw):
    return (a, b, rest, c, d, kw)
print(star(1, c=3))
print(star(1, 2, 3, 4, c=5, z=6, y=7))
args = [1, 2, 3]
kw = {"c": 9, "q": 1}
print(star(*args, **kw))
print(star(*args[:1], *(7, 8), **{"c": 0}, e=3))
def posonly(a, b, /, c, *, d):
    return a, b, c, d
print(posonly(1, 2, 3, d=4), posonly(1, 2, c=3, d=4))
x = [i for i in range(3)]
print(i)
print([[j * i for j in range(i)] for i in range(4)])
print([(i, j) for i in range(4) for j in range(i) if (i + j) % 2])
print({k: v for k, v in zip("abc", range(3))})
print({i % 3 for i in range(10)} == {0, 1, 2})
print(sum(i * i for i in range(10)))
n = 10
def scope():
    n = 3
    return [n * k for k in range(2)], [(lambda: n)() for _ in range(2)]
print(scope(), n)
class C:
    n = 4
    ks = [1, 2, 3]
    xs = [k for k in ks]
    def m(self):
        return n
print(C.xs, C().m(), C.n)
print((y := 5) + y, y)
print([z := i for i in range(3)], z)
if (w := 10) > 5: print(w)
a, *b = 1, 2, 3
print(a, b)
*a, b = "xyz"
print(a, b)
(a, b), [c, *d] = (1, 2), [3, 4, 5]
print(a, b, c, d)
a = b = c = 4
print(a, b, c)
a, b = b + 1, a - 1
print(a, b)
print(1 < 2 < 3, 1 < 3 < 2, 1 < 2 > 0 != 5, 3 > 2 == 2)
print(not 1, not 0, not [], not "", 1 and 2, 0 and 2, 0 or 3, [] or "e", None or 0)
print(1 if 0 else 2 if 1 else 3)
print("a" if "" else "b")
