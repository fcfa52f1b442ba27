# SPDX-License-Identifier: Apache-2.0
# error T0107 at 9:6
# error T0107 at 10:6
# error T0107 at 11:6
# error T0107 at 12:6
# error T0107 at 14:6
# error T0107 at 15:7
# error T0120 at 16:9
a = "\x4"
b = "\u12"
c = "\N{DASH}"
d = "\ud800"
e = b"\u1234"
f = "\U00110000"
g = b"é"
h = "a" b"b"
