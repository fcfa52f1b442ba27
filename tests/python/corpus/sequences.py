# Every line is printed by Python and by tirc; the texts are compared.
import itertools
from functools import partial, reduce

row = [3, 1, 2]
grid = [[i * j for j in range(3)] for i in range(3)]
print(row, tuple(row), row + [9], row * 2, row[0], row[-1], row[1:], row[:-1], row[::2], grid[2][1], len(grid))
print(sorted(row), sorted(row, reverse=True), sorted(["bb", "a", "ccc"], key=len), list(reversed(row)), row)
print(sorted([(1, "b"), (0, "z"), (1, "a")]), sorted([(1, "b"), (1, "a"), (0, "c")], key=lambda p: p[0]))
print([x for x in range(10) if x % 3 == 0], [(i, j) for i in range(3) for j in range(i)], [[y for y in range(x)] for x in range(3)])
print({x: x * x for x in range(3)}, {x % 2 for x in range(5)} == {0, 1}, dict(a=1, b=2), dict([("x", 1)]), {**{"p": 1}, "q": 2})
print(list(zip([1, 2, 3], "ab")), list(enumerate("ab", 5)), list(map(lambda a, b: a + b, [1, 2], [3, 4])), list(filter(None, [0, 1, 2])))
print(any([0, 1]), all([1, 0]), any([]), all([]), sum(range(5)), sum([[1], [2]], []), list(range(5, 0, -2)), list(range(2, 9, 3)))
print(reduce(lambda a, b: a * b, [1, 2, 3, 4]), reduce(lambda a, b: a + b, [], 10), partial(pow, 2)(5), partial(sorted, reverse=True)([1, 3, 2]))
print(list(itertools.product([1, 2], "ab")), list(itertools.product([0, 1], repeat=2)), list(itertools.chain([1], (2, 3))))
print(next(x for x in [1, 2, 3] if x > 1), next((x for x in [] if x), "none"), max(x * x for x in [-3, 2]))
first, *middle, last = [1, 2, 3, 4]
print(first, middle, last, [*middle, 9], (*row, 0), {*row} == {1, 2, 3}, 2 in row, 7 not in row, 2 in {2: 1}, (1, 2) in [(1, 2)])
stack = [1, 2]
stack.append(3)
stack.extend([4, 5])
print(stack.pop(), stack.pop(0), stack, stack.index(3), stack.count(2), [9, 8].copy())
stack.insert(1, 7)
stack.remove(2)
stack.reverse()
stack[0] = 40
stack += [6]
print(stack, stack[1], len(stack))
stack.sort()
del stack[0]
print(stack)
table = {"a": 1}
table["b"] = 2
table.setdefault("c", 3)
table.update({"d": 4}, e=5)
table["a"] += 10
print(table, table.get("z"), table.get("z", 0), table.pop("d"), list(table), list(table.keys()), list(table.values()), list(table.items()))
del table["b"]
print(table, "b" in table, len(table), [k for k in table], sorted(table.items(), key=lambda p: -p[1]))
seen = set()
seen.add(3)
seen.add(3)
seen.add(1)
print(len(seen), 3 in seen, seen | {7} == {1, 3, 7}, seen & {3}, seen - {3}, seen ^ {3, 4} == {1, 4}, sorted(seen), set(), len({1, 1, 2}))
alias = row
alias.append(4)
print(row, alias is row, [1] is [1], (1, 2) == (1, 2), [] == [], [1, 2] == [1, 2.0])
nested = {"k": [1, {"z": (2, 3)}]}
print(nested, nested["k"][1]["z"][0], (1,), (), [()], {1: {2: 3}}, [None, True, 1.5, "s"])
if (m := len(row)) > 3:
    print(m, [last := x for x in (1, 2)], last)
a, b = 1, 2
a, b = b, a
(c, d), e = (1, 2), 3
print(a, b, c, d, e)
big = {i: i * i for i in range(2000)}
print(len(big), big[1999], 1999 in big, 2000 in big, {str(i): i for i in range(100)}["42"], {(i, j): i - j for i in range(9) for j in range(9)}[(8, 1)])
print(list(itertools.accumulate([1, 2, 3, 4])), list(itertools.accumulate([3, 1, 4], max)), list(itertools.accumulate([])))
print(list(itertools.combinations([1, 2, 3, 4], 2)), list(itertools.combinations("abc", 3)), list(itertools.combinations([1], 2)), list(itertools.combinations([1, 2], 0)))
print(list(itertools.permutations([1, 2, 3])), list(itertools.permutations("abc", 2)), list(itertools.permutations([], 1)), list(itertools.permutations([5])))
