# SPDX-License-Identifier: Apache-2.0
# error T0114 at 11:10
# error T0114 at 12:11
# error T0114 at 13:6
# error T0113 at 16:1
# error T0113 at 18:5
# error T0119 at 19:9
# error T0113 at 22:1
# error T0113 at 24:5
# error T0113 at 25:5
a = (1, 2]
b = [(1, 2]
c = 1)
d = foo(a,
        b
e = 2
def f(a, b:
    return a
class G(:
    x = 1
i = [1, 2
for j in k:
    l = {1: 2
    m = 3
n = {
