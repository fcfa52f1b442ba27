# SPDX-License-Identifier: Apache-2.0
# error T0101 at 8:7
# error T0101 at 9:5
# error T0101 at 10:9
# error T0101 at 11:7
# error T0101 at 12:5
# error T0101 at 13:7
a = b ? c
d = $x
price = “text”
x = a ! b
y = `z`
q = a − b
ok = 1
