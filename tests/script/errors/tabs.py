# SPDX-License-Identifier: Apache-2.0
# error T0109 at 6:1
# error T0109 at 10:1
if a:
        b
	c
d = 1
if e:
	f
        g
