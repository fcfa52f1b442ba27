# SPDX-License-Identifier: Apache-2.0
# error T0118 at 17:5
# error T0118 at 19:5
# error T0118 at 21:18
# error T0120 at 23:11
# error T0118 at 24:11
# error T0118 at 26:8
# error T0118 at 28:8
# error T0118 at 30:12
# error T0118 at 32:6
# error T0119 at 33:9
# error T0120 at 36:7
# error T0122 at 38:5
# error T0118 at 40:6
# error T0118 at 44:6
# error T0119 at 45:12
if a
    b = 1
else
    c = 2
for i in range(3)
    d = (
        1 2)
while True
    break
def f()
    return 1
class A
    x = 1
with a as b
    c
if a b:
    c = = 1
elif d:
    e
for i range(3):
    pass
for 1 in x:
    pass
else if x:
    pass
if x:
    pass
else if y:
    z = 1 +
