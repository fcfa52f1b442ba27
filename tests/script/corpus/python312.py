# SPDX-License-Identifier: Apache-2.0
# needs: 3.12
# Type parameters, type aliases, and f-strings with quotes of their own kind inside.
def f[n](A: T.Buffer((n,), "float32")): pass
def f[n: int, *ts, **ps](a): pass
class A[t](B): pass
type x = int
type y[t] = list[t]
f"{a["k"]}", f'{f'{f'{a}'}'}', f"{"\n".join(a)}", f"{a # comment
}", f"{
    a:>{
    b}}"
