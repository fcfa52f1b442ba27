# SPDX-License-Identifier: Apache-2.0
# error T0104 at 7:5
# error T0104 at 8:5
# error T0104 at 10:5
# error T0104 at 11:5
# error T0104 at 13:5
a = "open
b = 'open too
c = 1
d = f"{x"
e = f"{x
f = "fine"
g = """never closed
all of this
