# SPDX-License-Identifier: Apache-2.0
# Every kind of expression that the tree knows.
name
0, 7, 0x1F, 0o17, 0b1011, 1_000_000, 0xFFFF_FFFF_FFFF_FFFF, 00
1.5, .5, 5., 1e3, 1_0.2_5e-1_0, 1E+4, 3j, 1e400
'one', "two", '''three
lines''', r'\n raw', R"\q", u'four', b'bytes\x00\xff', rb'\d', Br"\d"
"a\n\t\\\'\"\a\b\f\r\v\0\101\x41\u00e9\U0001F600joined"
"joined " 'by ' """standing side"""  " by side"
(
    "across "
    f"lines {x}"
)
True, False, None, ..., Ellipsis
(), (1,), (1, 2), 1, ; (1, *rest), (a), ((a)), (((a, b)))
[], [1], [1, 2,], [*a, *b], [[1], [2]]
{1}, {1, *a, 2}, {}, {1: 2}, {'a': 1, **b, 'c': {**d}}
a.b.c, a . b, (a).b, 1 .real, "".join, a.b(c).d[e].f
a[0], a[0, 1], a[:], a[1:], a[:1], a[1:2:3], a[::2], a[1, :, 2:3], a[...], a[b][c], a[()], a[1,], a[*b], a[*b, 1]
a[lambda: 1], a[b:=1], a[(1, 2):(3, 4)], a[x if y else z : w]
f(), f(1), f(a, b,), f(*a), f(**k), f(a, *b, c, d=1, *e, f=2, **g, **h), f(a=1), f(x for x in y), f((x for x in y), 1)
f(a)(b)(c), f(a := 1), f(x)[y].z(w)
-a, +a, ~a, not a, - -a, -+~a, not not a, -a**-b, (-a)**b, a**b**c, -1
a + b - c * d / e // f % g @ h << i >> j & k ^ l | m
(a + b) * c, a - (b - c), a << b + c, a & b == c, a | b ^ c & d
a and b or c and not d, a and b and c, (a and b) and c, a or (b or c)
a < b, a < b <= c != d, a > b >= c == d, a in b, a not in b, a is b, a is not b, a < b is not c in d, (a < b) < c
not a in b, not a == b, a == (not b)
a if b else c, a if b else c if d else e, (a if b else c) if d else e, a if (b if c else d) else e
lambda: 0, lambda x: x, lambda x, y=1, *z, w, v=2, **u: (x, y), lambda *, k: k, lambda a, /, b: a, lambda *a: lambda **b: a
[x for x in y], [x for x in y if a if b for z in x], [x for x, in y], [a for (b, c), *d in e], [x for x in a or b]
{x for x in y}, {x: y for x, y in z if x}, (x for x in y), [[y for y in x] for x in z], [lambda: x for x in y]
(y := f(x)), [y := 1, y**2], print(z := 1), (a, b := 1)
1if a else 2, 1or 2, 0xfor 1
