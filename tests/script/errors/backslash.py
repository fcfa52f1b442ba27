# SPDX-License-Identifier: Apache-2.0
# error T0117 at 4:7
# error T0117 at 6:9
a = b \ c
d = 1
e = f + \
