# SPDX-License-Identifier: Apache-2.0
# error T0119 at 6:2
# error T0120 at 8:4
# error T0120 at 11:1
# error T0120 at 13:1
@
def f(): pass
@a b
def g(): pass
@a
x = 1
@a
