# SPDX-License-Identifier: Apache-2.0
# error T0128 at 12:1
# error T0128 at 13:1
# error T0128 at 14:1
# error T0128 at 16:5
# error T0128 at 19:9
# error T0128 at 22:5
# error T0120 at 23:1
# error T0120 at 25:1
# error T0120 at 27:1
# error T0120 at 29:1
break
continue
return 1
def f():
    break
for i in x:
    def g():
        continue
    break
class A:
    return 1
else:
    a
elif b:
    c
except:
    d
finally:
    e
f
