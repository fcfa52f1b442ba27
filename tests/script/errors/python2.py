# SPDX-License-Identifier: Apache-2.0
# error T0126 at 10:1
# error T0126 at 11:1
# error T0126 at 12:1
# error T0119 at 13:7
# error T0119 at 14:8
# error T0119 at 15:8
# error T0120 at 16:8
# error T0126 at 17:1
print "x"
print x
exec "code"
if a <> b: pass
x = a && b
y = a || b
raise A, "b"
print 1, 2
