# SPDX-License-Identifier: Apache-2.0
"""random_kernels.py SEED COUNT: kernels of random tile operations, each beside a kernel of the same name and _plain in
which one thread does the same element by element, and lines `# pair:` with their arguments. Knows nothing of how
operations are done. The same seed gives the same text; needs Python's standard library only."""
import random
import sys

HEAD = '''from tvm.script import tirx as T
from tvm.script.tirx import tile as Tx
from tvm.tirx.layout import TileLayout, S, R, laneid, tid_in_wg, tx
'''
DTYPES = ["float16", "float32", "bfloat16", "int32", "uint8", "int8", "float64", "int16", "float8_e4m3fn"]
BITS = {"float16": 16, "bfloat16": 16, "float32": 32, "int32": 32, "uint8": 8, "int8": 8, "float64": 64, "int16": 16,
        "float8_e4m3fn": 8}
# shape and layout of registers by scope; both for elements of any type
SPREAD = {
    "warp": [((32, 8), "S[(32, 8) : (1@laneid, 1)]"), ((16, 8), "S[(2, 8, 4, 2) : (2, 4@laneid, 1@laneid, 1)]"),
             ((16, 16), "S[(2, 8, 2, 4, 2) : (2, 4@laneid, 4, 1@laneid, 1)]"),
             ((8, 8), "S[(4, 2, 8) : (1@laneid, 1, 4@laneid)]"), ((8, 12), "S[(8, 12) : (4@laneid, 1)] + R[4 : 1@laneid]"),
             ((6, 32), "S[(6, 32) : (1, 1@laneid)]"), ((4, 16), "S[(4, 16) : (4, 1@laneid)] + 2"),
             ((3, 8, 4), "S[(3, 8, 4) : (4, 4@laneid, 1)] + R[4 : 1@laneid]")],
    "wg": [((128, 16), "S[(128, 16) : (1@tid_in_wg, 1)]"), ((64, 8), "S[(64, 8) : (1@tid_in_wg, 1)]"),
           ((32, 32), "S[(32, 4, 8) : (4@tid_in_wg, 1@tid_in_wg, 1)]"), ((5, 128), "S[(5, 128) : (1, 1@tid_in_wg)]")],
    "cta": [((256, 4), "S[(256, 4) : (1@tx, 1)]"), ((16, 64), "S[(16, 16, 4) : (16@tx, 1@tx, 1)]"),
            ((100, 3), "S[(100, 3) : (1@tx, 1)]")],
}
AXES = "ijkl"


def literal(dtype, value):
    return f"T.cast({value}, \"{dtype}\")"


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def shape(self):
        rank = self.r.choice([1, 2, 2, 2, 3])
        sizes = [1, 2, 3, 7, 8, 16, 24, 33, 64]
        shape = [self.r.choice(sizes) for _ in range(rank)]
        while eval("*".join(map(str, shape))) > 3000:
            shape[self.r.randrange(rank)] = 3
        return shape

    def layout(self, shape, dtype):
        """An expression for a layout of this shape, or None."""
        kind = self.r.randrange(4)
        if len(shape) == 2 and kind == 0:
            for mode in (3, 2, 1):
                if shape[0] % 8 == 0 and shape[1] * BITS[dtype] // 8 % (16 << mode) == 0:
                    return f"T.mma_shared_layout(\"{dtype}\", {mode}, ({shape[0]}, {shape[1]}))"
        if len(shape) == 2 and kind == 1:
            return f"TileLayout(S[({shape[0]}, {shape[1]}) : ({shape[1] + self.r.choice([0, 1, 4, 8])}, 1)])"
        if len(shape) == 2 and kind == 2:
            return f"TileLayout(S[({shape[0]}, {shape[1]}) : (1, {shape[0]})])"
        return None

    def around(self, shape):
        """A larger shape and where this one lies in it."""
        begin = [self.r.choice([0, 0, 1, 4, 8]) for _ in shape]
        return [b + s + self.r.choice([0, 0, 3, 8]) for b, s in zip(begin, shape)], begin

    def tensor(self, shape, dtype, scope, name):
        outer, begin = self.around(shape)
        layout = self.layout(outer, dtype)
        type_ = f"({', '.join(map(str, outer))},), \"{dtype}\"" + (f", layout={layout}" if layout else "")
        return {"name": name, "shape": outer, "begin": begin, "type": type_, "size": shape, "scope": scope,
                "dtype": dtype}

    def region(self, t):
        parts = []
        for b, s, whole in zip(t["begin"], t["size"], t["shape"]):
            if s == 1 and self.r.random() < 0.5:
                parts.append(str(b))
            elif b == 0 and s == whole and self.r.random() < 0.5:
                parts.append(":")
            else:
                parts.append(f"{b}:{b + s}")
        if t["begin"] == [0] * len(parts) and t["size"] == t["shape"] and self.r.random() < 0.3:
            return t["name"]
        return f"{t['name']}[{', '.join(parts)}]"

    def element(self, t, broadcast=()):
        parts = [str(b) if d in broadcast or s == 1 else f"{AXES[d]} + {b}"
                 for d, (b, s) in enumerate(zip(t["begin"], t["size"]))]
        return f"{t['name']}[{', '.join(parts)}]"

    def loops(self, shape, body, indent="        "):
        lines = []
        for d, s in enumerate(shape):
            lines.append(f"{indent}for {AXES[d]} in range({s}):")
            indent += "    "
        return lines + [indent + line for line in body]

    def kernel(self, name, threads, parameters, lines, plain):
        args = ", ".join(f"{t['name']}: T.Buffer({t['type']})" for t in parameters)
        head = [f"    T.device_entry()", f"    b = T.cta_id([1])", f"    t = T.thread_id([{threads}])"]
        kernel = ["@T.prim_func", f"def {name}({args}):"] + head + lines
        other = ["@T.prim_func", f"def {name}_plain({args}):"] + head + ["    if t == 0:"] + plain
        words = " ".join(f"{t['name']}={t['fill']}" for t in parameters)
        return [f"# pair: {name} {words}"] + kernel + [""] + other + [""]

    def fill(self, t, out):
        t["fill"] = "zeros" if out else self.r.choice(["arange", "randn:3"]) if t["dtype"] in (
            "float16", "float32", "float64", "bfloat16") else "arange"

    def scope(self, threads):
        choices = ["cta", "cta", "warp", "thread"] + (["wg"] if threads % 128 == 0 else [])
        return self.r.choice(choices)

    def guarded(self, scope, line):
        condition = {"cta": None, "warp": "t // 32 == 0", "wg": "t // 128 == 0", "thread": "t == 0"}[scope]
        word = f"Tx.{line}" if scope == "thread" else f"Tx.{scope}.{line}"
        return [f"    {word}"] if condition is None else [f"    if {condition}:", f"        {word}"]

    def through(self, name):
        """global, shared, global, with different layouts and places."""
        threads = self.r.choice([32, 64, 96, 128, 256])
        dtype, shape = self.r.choice(DTYPES), self.shape()
        a, b = self.tensor(shape, dtype, "global", "A"), self.tensor(shape, dtype, "global", "B")
        s = self.tensor(shape, dtype, "shared", "s")
        while eval("*".join(map(str, s["shape"]))) * BITS[dtype] > 8 * 40000:
            s = self.tensor(shape, dtype, "shared", "s")
        self.fill(a, False), self.fill(b, True)
        lines = [f"    s = T.alloc_shared({s['type']})"]
        lines += self.guarded(self.scope(threads), f"copy({self.region(s)}, {self.region(a)})")
        lines += ["    T.cuda.cta_sync()"] + self.guarded(self.scope(threads), f"copy({self.region(b)}, {self.region(s)})")
        return self.kernel(name, threads, [b, a], lines,
                           self.loops(shape, [f"{self.element(b)} = {self.element(a)}"]))

    def registers(self, name):
        """global to registers, arithmetic there, back through shared memory or not."""
        scope = self.r.choice(["warp", "wg", "cta"])
        shape, layout = self.r.choice(SPREAD[scope])
        threads = {"warp": 32, "wg": 128, "cta": 256}[scope]
        dtype = self.r.choice([d for d in DTYPES if BITS[d] >= 16])
        shape = list(shape)
        a, b = self.tensor(shape, dtype, "global", "A"), self.tensor(shape, dtype, "global", "B")
        c = self.tensor(shape, dtype, "global", "C")
        self.fill(a, False), self.fill(b, True), self.fill(c, False)
        op, sign = self.r.choice([("add", "+"), ("sub", "-"), ("mul", "*")])
        whole = ", ".join(map(str, shape))
        lines = [f"    r = T.alloc_local(({whole}), \"{dtype}\", layout=TileLayout({layout}))",
                 f"    q = T.alloc_local(({whole}), \"{dtype}\", layout=TileLayout({layout}))",
                 f"    Tx.{scope}.copy(r, {self.region(a)})",
                 f"    Tx.{scope}.copy(q[{', '.join(':' for _ in shape)}], {self.region(c)})",
                 f"    Tx.{scope}.{op}(r, r, q)",
                 f"    Tx.{scope}.maximum(r, r, 3)",
                 f"    Tx.{scope}.copy({self.region(b)}, r)"]
        value = f"T.max({self.element(a)} {sign} {self.element(c)}, {literal(dtype, 3)})"
        return self.kernel(name, threads, [b, a, c], lines, self.loops(shape, [f"{self.element(b)} = {value}"]))

    def arithmetic(self, name):
        threads = self.r.choice([32, 128, 192])
        shape = self.shape()
        dtype = self.r.choice(["float32", "float16", "int32", "float64"])
        to = self.r.choice(["float32", "float16", "float64"]) if dtype != "int32" else "int32"
        a, b = self.tensor(shape, dtype, "global", "A"), self.tensor(shape, to, "global", "B")
        small = [1 if self.r.random() < 0.4 else s for s in shape]
        c = self.tensor(small, dtype, "global", "C")
        broadcast = [d for d, s in enumerate(small) if s == 1]
        self.fill(a, False), self.fill(b, True), self.fill(c, False)
        x, y = self.element(a), self.element(c, broadcast)
        forms = [("add", f"{x} + {y}"), ("sub", f"{x} - {y}"), ("mul", f"{x} * {y}"), ("maximum", f"T.max({x}, {y})"),
                 ("minimum", f"T.min({x}, {y})")]
        op, value = self.r.choice(forms)
        if to != dtype:
            value = f"T.cast({value}, \"{to}\")"
        if self.r.random() < 0.3:
            op, value, line = "cast", f"T.cast({x}, \"{to}\")", f"cast({self.region(b)}, {self.region(a)})"
        elif self.r.random() < 0.2:
            op, value, line = "fill", literal(to, 2), f"fill({self.region(b)}, 2)"
        else:
            line = f"{op}({self.region(b)}, {self.region(a)}, {self.whole(c)})"
        lines = self.guarded(self.scope(threads), line)
        return self.kernel(name, threads, [b, a, c], lines, self.loops(shape, [f"{self.element(b)} = {value}"]))

    def whole(self, t):
        return t["name"] + "[" + ", ".join(f"{b}:{b + s}" for b, s in zip(t["begin"], t["size"])) + "]"

    def reduction(self, name):
        """Of integers, whose sums do not depend on the order."""
        threads = self.r.choice([32, 64, 128])
        shape = self.shape()
        axes = sorted(self.r.sample(range(len(shape)), self.r.randint(1, len(shape))))
        kept = [s for d, s in enumerate(shape) if d not in axes] or [1]
        a, b = self.tensor(shape, "int32", "global", "A"), self.tensor(kept, "int32", "global", "B")
        self.fill(a, False), self.fill(b, True)
        b["fill"] = "arange"
        op, accum = self.r.choice(["sum", "max", "min"]), self.r.random() < 0.5
        scope = self.scope(threads)
        named = [d - len(shape) if self.r.random() < 0.5 else d for d in axes]
        lines = self.guarded(scope, f"{op}({self.region(b)}, {self.whole(a)}, axes={tuple(named)}, accum={accum})")
        combine = {"sum": "{0} + {1}", "max": "T.max({0}, {1})", "min": "T.min({0}, {1})"}[op]
        first = {"sum": "0", "max": "-2147483648", "min": "2147483647"}[op]
        target = [d for d in range(len(shape)) if d not in axes]
        spots = [str(b["begin"][k]) if b["size"][k] == 1 else f"{AXES[target[k]]} + {b['begin'][k]}"
                 for k in range(len(kept))]
        out = f"B[{', '.join(spots)}]"
        plain, indent = ["        x: T.int32"], "        "
        for d in target:
            plain.append(f"{indent}for {AXES[d]} in range({shape[d]}):")
            indent += "    "
        plain.append(f"{indent}x = {out if accum else literal('int32', first)}")
        for d in axes:
            plain.append(f"{indent}for {AXES[d]} in range({shape[d]}):")
            indent += "    "
        plain.append(f"{indent}x = {combine.format('x', self.element(a))}")
        plain.append("        " + "    " * len(target) + f"{out} = x")
        return self.kernel(name, threads, [b, a], lines, plain)


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    maker = Maker(seed)
    print(HEAD)
    for n in range(count):
        make = maker.r.choice([maker.through, maker.through, maker.registers, maker.arithmetic, maker.reduction])
        print("\n".join(make(f"k{n}")))


main()
