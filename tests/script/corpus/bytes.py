# SPDX-License-Identifier: Apache-2.0
# Names beyond ASCII, line ends of two bytes, a form feed, no newline at the end.
näme = λ.名
if α:
    "😀"  # é
    β = """a
b"""
x1 = ñ