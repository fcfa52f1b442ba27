# SPDX-License-Identifier: Apache-2.0
# Records, enumerations, named tuples, special methods, decorators.
from dataclasses import dataclass, field, replace, asdict, astuple
from enum import Enum, IntEnum
from typing import NamedTuple, Optional, List
from collections import namedtuple, defaultdict, OrderedDict, Counter
@dataclass
class P:
    x: int
    y: int = 2
    z: list = field(default_factory=list)
    def total(self):
        return self.x + self.y + len(self.z)
    @property
    def double(self):
        return 2 * self.x
p = P(1)
q = P(1, y=5, z=[1])
print(p, q, p == P(1), p == q, p.total(), q.total(), p.double, p.z is P(1).z)
p.x = 10; print(p.x, p)
@dataclass(frozen=True)
class F:
    a: int = 1
    b: Optional[int] = None
    def __post_init__(self):
        assert self.a > 0
print(F(), F(3), hash(F(1)) == hash(F(1)), {F(1): 2}[F(1)], replace(F(1), b=4))
print(asdict(P(1)), astuple(P(1)))
@dataclass(order=True)
class O:
    k: int
    v: str = "a"
print(O(1) < O(2), sorted([O(3), O(1)]), max(O(1), O(5)))
@dataclass
class B1:
    a: int
    b: int = 2
@dataclass
class D1(B1):
    c: int = 3
print(D1(1), D1(1, c=9))
class Color(Enum):
    RED = 1
    GREEN = 2
print(Color.RED, Color.RED.value, Color.RED.name, Color(2), Color["GREEN"], Color.RED == Color.RED, Color.RED is Color.RED, list(Color), len(Color))
class I(IntEnum):
    A = 3
    B = 4
print(I.A + 1, I.A < I.B, I.A == 3, int(I.B), [0] * I.A)
class NT(NamedTuple):
    m: int
    n: int = 4
t = NT(1)
print(t, t.m, t[1], t._replace(m=5), len(t), t == (1, 4)); a, b = t; print(a, b)
Q = namedtuple("Q", ["u", "v"]); print(Q(1, 2), Q(1, v=3).v)
Q = namedtuple("Q", "u v w"); print(Q(1, 2, 3))
d = defaultdict(int); d["a"] += 1; print(dict(d))
d = defaultdict(list); d["a"].append(1); print(dict(d))
class A:
    count = 0
    def __init__(self, v, *, scale=1):
        self.v = v * scale
        A.count += 1
    def __add__(self, o): return A(self.v + (o.v if isinstance(o, A) else o))
    def __radd__(self, o): return A(o + self.v)
    def __mul__(self, o): return A(self.v * o)
    def __neg__(self): return A(-self.v)
    def __eq__(self, o): return self.v == o.v
    def __lt__(self, o): return self.v < o.v
    def __getitem__(self, i): return self.v + i
    def __len__(self): return 3
    def __call__(self, x): return self.v * x
    def __repr__(self): return f"A({self.v})"
    def __contains__(self, x): return x == self.v
    def __iter__(self): return iter([self.v, self.v + 1])
    def __bool__(self): return self.v != 0
    @staticmethod
    def make(v): return A(v)
    @classmethod
    def two(cls): return cls(2)
    @property
    def sq(self): return self.v ** 2
    @sq.setter
    def sq(self, n): self.v = n
a = A(3)
print(a + 1, 1 + a, a + A(4), a * 2, -a, a == A(3), a < A(4), a[10], len(a), a(5), 3 in a, list(a), A.make(7), A.two(), a.sq, A.count, bool(A(0)), not A(0), f"{a} {a!r}", str(a), sum([A(1), A(2)]))
a.sq = 9; print(a, sorted([A(3), A(1)]), max(A(1), A(4)))
class Base:
    kind = "base"
    def __init__(self, n): self.n = n
    def name(self): return f"{self.kind}:{self.n}:{self.extra()}"
    def extra(self): return "b"
class Derived(Base):
    kind = "derived"
    def __init__(self, n):
        super().__init__(n + 1)
        self.m = n
    def extra(self): return "d" + super().extra()
print(Derived(1).name(), Base(1).name(), isinstance(Derived(1), Base), issubclass(Derived, Base), Derived(1).__class__.__name__, Derived.__name__, hasattr(Derived(1), "m"), getattr(Derived(1), "zz", 5))
class Ctx:
    def __enter__(self):
        print("in"); return 5
    def __exit__(self, *a):
        print("out"); return False
x = Derived(1); setattr(x, "w", 4); print(x.w, vars(x) if False else "")
class Sl:
    def __getitem__(self, k): return k
print(Sl()[1:2, ::3], Sl()[1], Sl()[..., None], Sl()[1:2])
class Meta:
    __slots__ = ("a",)
    def __init__(self): self.a = 1
print(Meta().a)
def deco(f):
    def wrap(*a, **k):
        return ("w", f(*a, **k))
    return wrap
@deco
def foo(x, y=1): return x + y
print(foo(1), foo(1, y=5))
def decoarg(n):
    def d(f):
        return lambda *a: f(*a) * n
    return d
@decoarg(3)
def bar(x): return x
print(bar(4))
print((lambda *a, k=2, **kw: (a, k, kw))(1, 2, k=3, z=4))
print((lambda: (yield_ := 3))() if True else 0)
