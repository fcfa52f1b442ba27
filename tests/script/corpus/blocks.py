# SPDX-License-Identifier: Apache-2.0
# Every kind of compound statement.
if a: b
if a: b; c
if a:
    b
elif c:
    d
elif e:
    f
else:
    g
if a := b:
    pass
while a:
    break
else:
    b
while True: continue
for a in b:
    continue
for a, b in c, d:
    pass
else:
    e
for (a, b), *c in d: pass
for a.b in c: pass
for a[0], in b,: pass
for a in *b, c: pass
with a: pass
with a as b, c as (d, e), f as g.h: pass
with (a as b, c as d): pass
with (a as b, c as d,): pass
with (a, b): pass
with (a, b) as c: pass
with (a): pass
with (a).b as c, d: pass
with (a) as b: pass
with (a if b else c) as d: pass
with (a, b)[0], c: pass
with (a := b): pass
with (
    a as b,  # one
    c,
): pass
def f(): pass
def f(a): return
def f(a, b=1, *c, d, e=2, **g): return a, b
def f(a, /, b, *, c): return *a, b
def f(a: int, b: "x" = 1, *c: y, d: z = 2, **e: w) -> v.u: return (a)
def f(a, b,): pass
def f(*, a): pass
def f(*a, **b): pass
def f(a=1, /): pass
@a
def f():
    """doc"""
    nonlocal_ = 1
    def g():
        nonlocal nonlocal_
        return nonlocal_
    return g
@a.b(c, d=e)
@f
@(lambda x: x)
@x[0]
def f(): pass
@dataclass(frozen=True)
class A: pass
class A(): pass
class A(B, C, metaclass=D, *e, **f):
    x: int = 1
    def m(self):
        return self.x
    class N: pass
try:
    a
except:
    b
try: a
except A: b
except (B, C) as d: e
else: f
finally: g
try:
    a
finally:
    b
try:
    a
except* A as b:
    c
if a:
  b
  if c:
       d
  else:
   e
if a:
	b
	c
if a:
    b

    # comment between

# comment at the outer level
    c
  # comment at no level
d
