# SPDX-License-Identifier: Apache-2.0
# error T0105 at 12:5
# error T0105 at 13:5
# error T0105 at 14:5
# error T0105 at 15:5
# error T0105 at 16:5
# error T0105 at 17:5
# error T0105 at 18:5
# error T0120 at 19:8
# error T0106 at 20:5
# error T0105 at 21:5
a = 0123
b = 1__0
c = 1_
d = 0x
e = 0b102
f = 0o8
g = 12ab
h = 1.5.2
i = 36893488147419103232
j = 0xG
ok = 00 + 0x_1f + 1e5
