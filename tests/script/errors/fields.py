# SPDX-License-Identifier: Apache-2.0
# error T0108 at 9:7
# error T0108 at 10:7
# error T0108 at 11:10
# error T0108 at 12:10
# error T0108 at 13:10
# error T0119 at 14:11
# error T0120 at 16:10
a = f"{}"
b = f"}"
c = f"{x!z}"
d = f"{x y}"
e = f"{x:{}}"
g = f"{1 +}"
h = f"{lambda x: 1}"
i = f"{a.}"
