# SPDX-License-Identifier: Apache-2.0
# error T0123 at 17:10
# error T0125 at 18:12
# error T0125 at 19:13
# error T0125 at 20:8
# error T0125 at 21:12
# error T0125 at 22:11
# error T0125 at 23:7
# error T0125 at 24:16
# error T0125 at 25:9
# error T0120 at 26:7
# error T0120 at 27:7
# error T0123 at 28:11
# error T0120 at 29:9
# error T0120 at 30:5
# error T0120 at 31:5
def f(a, a): pass
def g(a=1, b): pass
def h(*, **k): pass
def i(*): pass
def j(**k, a): pass
def k(*a, *b): pass
def l(/, a): pass
def m(a, /, b, /): pass
def n(*a=1): pass
def o(1): pass
def p(class): pass
lambda a, a: 1
def q(a b): pass
def (a): pass
def for(a): pass
