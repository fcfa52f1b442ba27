# SPDX-License-Identifier: Apache-2.0
# Replacement fields, conversions, specifications, and what joins with them.
f"", f"plain", f"{a}", f"{a}{b}", f"x{a}y{b}z", F'{a}', fr"\d{a}\n", rf'{a}\{b}', f"\x41{a}\u00e9"
f"{a!r}", f"{a!s}", f"{a!a}", f"{a:>10}", f"{a!r:>10}", f"{a:{w}}", f"{a:{w}.{p}}", f"{a:0{w}x}", f"{a:%Y-%m-%d}", f"{a:}"
f"{{", f"}}", f"{{{a}}}", f"{{}}", f"a{{b}}c{d}"
f"{a=}", f"{a = }", f"{a + b=}", f"{a=!s}", f"{a=:>5}"
f"{a + b}", f"{a, b}", f"{ a }", f"{ {1: 2}[1] }", f"{(lambda x: x)(1)}", f"{a[b:c]}", f"{a['k']}", f"{f(a, b=1)}", f"{a if b else c}", f"{a != b}", f"{a == b}", f"{(a := 1)}", f"{a:=5}", f"{*a, b}"
f"tcgen05.alloc.cta_group::{cta_group}.sync.aligned.shared::cta.b32"
"a" f"{b}" "c", f"{a}" f"{b}", "a" "b" f"c", f'''{
    a
}''', f'''
{a} and
{b}'''
f"{f'{a}'}", f"{f'{b!r:>{c}}'}"
f"{a:{b!r}}", f"{a!r:^{width}.{precision}}", f"{'nested'}", f"{3.4:10}", f"{a:\x41}"
