# Every line is printed by Python and by tirc; the texts are compared.
import functools


def spread(a, b=10, *rest, c=100, **more):
    return a, b, rest, c, more


print(spread(1), spread(1, 2, 3, 4), spread(1, c=5), spread(1, z=6, y=7), spread(*[1, 2], **{"c": 3, "w": 4}), spread(b=1, a=2))


def positional(a, b, /, c, *, d=4):
    return a + b * 10 + c * 100 + d * 1000


print(positional(1, 2, 3), positional(1, 2, c=3, d=5))


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def count(n):
    return 0 if n == 0 else 1 + count(n - 1)


print(fib(15), count(150))


def adder(n):
    total = n

    def add(m):
        nonlocal total
        total += m
        return total

    return add


one, two = adder(1), adder(100)
print(one(1), one(2), two(5), one(0))
calls = 0


def counted():
    global calls
    calls += 1
    return calls


print(counted(), counted(), calls)
makers = [lambda x, k=k: x * k for k in range(3)]
late = [lambda: k for k in range(3)]
print([f(10) for f in makers], [f() for f in late])


def loops(n):
    out = []
    for i in range(n):
        if i == 1:
            continue
        if i == 4:
            break
        out.append(i)
    else:
        out.append("else")
    while n > 0:
        n -= 2
        if n == 3:
            break
    else:
        out.append("done")
    return out, n


print(loops(3), loops(9), loops(0))


def early(x):
    for i in range(3):
        for j in range(3):
            if i * j == x:
                return i, j


print(early(2), early(4), early(5))


def twice(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(f(*args, **kwargs))

    return inner


@twice
def inc(x, by=1):
    return x + by


@functools.lru_cache(maxsize=None)
def slow(x):
    return x + 1


def tries():
    try:
        import nothing_of_this_name_exists_here_if_python_runs_it
    except ImportError:
        pass
    try:
        value = 1
    finally:
        value = 2
    return value


print(inc(1), slow(3), tries(), (lambda *a: len(a))(1, 2, 3), (lambda: None)() is None)


def default_list(x, seen=[]):
    seen.append(x)
    return seen


print(default_list(1), default_list(2))


def chained():
    a = b = [0]
    b.append(1)
    c = d = 5
    d += 1
    return a, c, d


print(chained(), spread.__name__, callable(spread), callable(3))
