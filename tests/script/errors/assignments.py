# SPDX-License-Identifier: Apache-2.0
# error T0121 at 26:6
# error T0121 at 28:9
# error T0122 at 30:1
# error T0122 at 31:1
# error T0122 at 32:1
# error T0122 at 33:5
# error T0122 at 34:9
# error T0122 at 35:1
# error T0122 at 36:1
# error T0122 at 37:1
# error T0122 at 38:3
# error T0121 at 39:8
# error T0121 at 40:8
# error T0122 at 41:9
# error T0122 at 42:5
# error T0122 at 43:5
# error T0122 at 44:1
# error T0122 at 45:1
# error T0122 at 46:1
# error T0122 at 47:1
# error T0119 at 48:4
# error T0122 at 49:11
# error T0122 at 50:2
# error T0122 at 51:1
if a = 1:
    pass
while b = 2:
    pass
f(x) = 1
1 = a
a + b = c
(a, 1) = b
[a, *b, *c] = d
*a = b
a, b += 1
(a, b): int = 1
f(a.b=1)
x = (a = 1)
y = [a = 1]
a = b = 1 = c
del f(x)
for f() in x: pass
None = 1
"a" = 1
a if b else c = 1
lambda: 1 = 2
x++
with a as f(): pass
(x := 1) = 2
a == b = c
