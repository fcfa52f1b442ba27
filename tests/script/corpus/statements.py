# SPDX-License-Identifier: Apache-2.0
# Every kind of simple statement.
import a
import a.b.c, d as e, f.g as h
from a import b
from a.b import c as d, e
from . import a
from .a import b
from ... import a
from ....a.b import (c, d as e,)
from .... import (
    a,
    b,
)
from a import *
pass; pass
a = 1
a = b = c = 1
a, b = b, a
(a, b) = [c, d] = e
a, = b
*a, b = c
[a, *b] = (c), d = e
a.b = c[d] = 1
a[1:2, ::3] = b
a = *b, c
a: int
a: int = 1
a.b: c.d[e] = f
a[0]: int = 2
(a): int = 1
x: Tx.let[Tx.int32] = N // 2
a: b = c, d
a += 1; a -= 1; a *= 1; a /= 1; a //= 1; a %= 1; a **= 1; a @= 1; a &= 1; a |= 1; a ^= 1; a <<= 1; a >>= 1
a.b += c, d
a[0] += yield_
assert a
assert a, "b"
raise
raise A
raise A(b)
raise A from b
del a
del a, b.c, d[0]
del (a, b), [c]
del a,
global a, b
"a string"
1
a; b; c;
a = (yield_)
a \
    = b + \
    c
type = 1; match = 2; case = 3; print(type, match, case); match(a); match[a] = 1; type.x = 2; match.y; _ = 1
match * a, match - 1, match (a, b), type (x)
print >> a
print
