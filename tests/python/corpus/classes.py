# Every line is printed by Python and by tirc; the texts are compared.
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from enum import Enum, IntEnum, auto
from typing import Literal, NamedTuple, Optional


class Counter:
    made = 0
    limit: int = 3

    def __init__(self, start=0):
        self.at = start
        self.seen = []
        Counter.made += 1

    def step(self, by=1):
        self.at += by
        self.seen.append(self.at)
        return self

    @property
    def full(self):
        return self.at >= self.limit

    @staticmethod
    def double(x):
        return x * 2

    @classmethod
    def at_limit(cls):
        return cls(cls.limit)

    def __len__(self):
        return len(self.seen)

    def __getitem__(self, i):
        return self.seen[i]

    def __call__(self, x):
        return self.at + x

    def __add__(self, other):
        return Counter(self.at + (other.at if isinstance(other, Counter) else other))


c = Counter().step().step(by=5)
print(c.at, c.seen, c.full, Counter.double(4), c.double(5), Counter.at_limit().at, Counter.made, len(c), c[1], c(10), (c + 1).at, (c + c).at)
print(hasattr(c, "at"), hasattr(c, "nope"), getattr(c, "at"), getattr(c, "nope", "default"), isinstance(c, Counter), type(c) is Counter)
setattr(c, "extra", 5)
c.limit = 100
print(c.extra, c.limit, Counter.limit, c.full, c.__class__ is Counter, Counter.__name__)


class Loud(Counter):
    limit = 1

    def __init__(self, start, name):
        super().__init__(start)
        self.name = name

    def step(self, by=1):
        super().step(by * 10)
        return self

    def label(self):
        return f"{self.name}:{self.at}"


loud = Loud(1, "x").step()
print(loud.label(), loud.full, isinstance(loud, Counter), Loud.at_limit.__name__ if False else "-", Loud.double(1), issubclass(Loud, Counter))


@dataclass(frozen=True)
class Config:
    m: int
    n: int = 64
    stages: Optional[int] = None
    names: list = field(default_factory=list)

    def area(self):
        return self.m * self.n

    @property
    def pairs(self):
        return [(self.m, i) for i in range(2)]


p, q = Config(2), Config(m=2, n=64)
print(p == q, p == Config(3), p.area(), p.pairs, p.stages is None, p.names is q.names, Config(1, 2, 3).stages)


@dataclass
class Mutable:
    m: int
    k: int = 7

    def __post_init__(self):
        self.sum = self.m + self.k


class Mode(Enum):
    A = "a"
    B = "b"


class Level(IntEnum):
    LOW = auto()
    HIGH = auto()


class Point(NamedTuple):
    x: int
    y: int = 5


print(Mutable(3).sum, Mutable(k=1, m=2).sum)
print(Mode.A.value, Mode.B.name, Mode("b") is Mode.B, Mode["A"] is Mode.A, Mode.A == Mode.B, [m.value for m in Mode], Mode.A in (Mode.A,))
print(Level.LOW + 1, Level.HIGH > Level.LOW, Level.HIGH == 2, Level.HIGH.value, [int(v) for v in Level], max(Level.LOW, Level.HIGH).name)
point = Point(1)
x, y = point
print(point.x, point[1], x, y, sum(point), len(point), Point(2, 3) == Point(2, 3), [v * 2 for v in point])


class Scope:
    log = []

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, *rest):
        self.log.append("out")


with Scope() as s:
    s.log.append("body")
print(Scope.log)


class Outer:
    size = 3

    class Inner:
        depth = 2

    table = {i: i * 2 for i in range(3)}

    def total(self):
        return self.size + Outer.Inner.depth + self.table[2]


print(Outer().total(), Outer.Inner.depth)
print(replace(p, n=7).n, replace(p, m=9).area(), p.n, asdict(Config(1, 2, 3, ["x"])), astuple(Config(4)))
Kind = Literal["a", "b"]
print([f.name for f in fields(Config)], {f.name for f in fields(p)} == {"m", "n", "stages", "names"})
