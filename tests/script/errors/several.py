# SPDX-License-Identifier: Apache-2.0
# error T0113 at 14:5
# error T0121 at 15:10
# error T0113 at 18:9
# error T0126 at 20:9
# error T0123 at 22:14
# error T0120 at 23:11
# error T0118 at 24:15
# error T0113 at 26:5
# error T0104 at 26:9
# The parser goes on after every one of these.
def outer(a):
    x = (a +
    y = 2
    if x = y:
        z = foo(1,
                2
        w = 3
    else:
        print w
    return
def inner(b, b):
    v = b b
    for i in v
        u = [1, 2
    t = "open
last = 1
