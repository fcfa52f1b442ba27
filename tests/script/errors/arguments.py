# SPDX-License-Identifier: Apache-2.0
# error T0124 at 14:8
# error T0124 at 15:8
# error T0129 at 16:8
# error T0124 at 17:8
# error T0120 at 18:3
# error T0120 at 19:6
# error T0120 at 20:5
# error T0119 at 21:5
# error T0119 at 22:3
# error T0119 at 23:5
# error T0122 at 24:3
# error T0122 at 25:3
f(a=1, b)
f(**a, b)
f(a=1, a=2)
f(**a, *b)
f(x for x in y, 1)
f(1, x for x in y)
f(a b)
f(a,, b)
f(,)
f(a=)
f(True=1)
f(a.b=1)
