# SPDX-License-Identifier: Apache-2.0
# error T0112 at 9:1
# error T0111 at 11:1
# error T0110 at 14:1
# error T0112 at 18:1
# error T0110 at 20:1
# error T0112 at 23:1
if a:
b = 1
c = 2
    d = 3
if e:
        f
    g
    h
for i in j:
# only a comment
while k:
    l
  m
n = 1
def o():
