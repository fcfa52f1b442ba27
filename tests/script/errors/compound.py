# SPDX-License-Identifier: Apache-2.0
# error T0120 at 19:7
# error T0120 at 20:13
# error T0119 at 21:10
# error T0120 at 24:1
# error T0120 at 27:13
# error T0120 at 29:7
# error T0122 at 30:11
# error T0120 at 31:9
# error T0120 at 32:11
# error T0120 at 33:6
# error T0119 at 34:4
# error T0119 at 35:7
# error T0120 at 36:7
# error T0120 at 37:8
# error T0120 at 38:10
# error T0120 at 39:7
# error T0111 at 40:1
if a: if b: c
for a in b: while c: d
if a: b; if c: d
try:
    a
b = 1
try:
    a
except A as 1:
    b
async x
with a as b.c(): pass
with (a as 1): pass
class A(b c): pass
class: pass
del
assert
global
global a.b
nonlocal 1
match x:
    y
