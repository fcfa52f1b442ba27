# SPDX-License-Identifier: Apache-2.0
# error T0119 at 30:5
# error T0119 at 31:8
# error T0120 at 32:7
# error T0120 at 33:8
# error T0120 at 34:8
# error T0120 at 35:8
# error T0119 at 36:9
# error T0120 at 37:13
# error T0119 at 39:1
# error T0119 at 40:7
# error T0120 at 41:6
# error T0120 at 42:7
# error T0120 at 43:11
# error T0119 at 44:8
# error T0120 at 46:6
# error T0120 at 47:11
# error T0119 at 48:11
# error T0120 at 49:13
# error T0119 at 50:6
# error T0120 at 51:7
# error T0120 at 52:7
# error T0119 at 53:9
# error T0120 at 55:12
# error T0119 at 56:5
# error T0120 at 57:8
# error T0119 at 58:6
# error T0119 at 59:6
# error T0119 at 60:8
a = 
b = 1 +
c = a b
d = (a b)
e = [1 2]
f = {1 2}
g = {1: }
h = {1: 2, 3}
i = a[
]
j = a[]
k = a.1
l = a.class
m = 1 if 2
n = not
o = *a
p = (*a)
q = lambda
r = [x for]
s = [x for x]
t = [for x in y]
u = a := 1
v = a not b
w = a is
x = ()()(
y = yield_ yield
z = pass
aa = a..b
ab = @b
ac = ;
ad = a;; b
