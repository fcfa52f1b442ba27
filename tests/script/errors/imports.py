# SPDX-License-Identifier: Apache-2.0
# error T0120 at 14:7
# error T0120 at 15:10
# error T0120 at 16:12
# error T0120 at 17:14
# error T0120 at 18:6
# error T0120 at 19:14
# error T0113 at 21:1
# error T0120 at 22:17
# error T0120 at 23:16
# error T0120 at 24:18
# error T0120 at 25:8
# error T0120 at 26:15
import
import a.
import a as
import a as b.c
from import a
from a import
from a import (b, c
import d
from a import b,
from a import (*)
from a import b, *
import *
from . import 1
