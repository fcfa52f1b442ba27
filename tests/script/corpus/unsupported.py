# SPDX-License-Identifier: Apache-2.0
# What the grammar knows and the evaluator will refuse: it is delimited, not read as something else.
def f():
    yield
    yield a
    yield a, b
    yield from a
    x = yield
    x = yield a
    x += yield a
    (yield)
    y = (yield a), (yield)
    f((yield a))
    return (yield)
async def f(a):
    await a
    await a.b(c)[d] ** e
    -await a
    async for x in y:
        pass
    async with a as b, c:
        pass
    [x async for x in y]
    {x: y async for x in y for y in x if z}
@a
async def f(): pass
match a:
    case 1:
        b
    case [x, y]:
        c
match (a, b):
    case _: pass
match a, *b:
    case _: pass
match -a:
    case _:
        if b:
            c
d
2j + 1
