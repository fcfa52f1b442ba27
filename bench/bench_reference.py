# SPDX-License-Identifier: Apache-2.0
# Our examples' kernels to CUDA text, in process, by libtirc and by the reference implementation, in one run: from the
# script as text, and once more from the function that each one's parser made of it. The compiler behind CUDA text (nvcc)
# is not called, nor is host code made. One session of ours compiles them all. The least of several; the ratios count, from
# the script, which is the whole compilation.
import ctypes
import importlib.util
import os
import sys
import tempfile
import time

LIMIT = 100
ROUNDS = 9
OUR_ROUNDS = 101
KERNELS = [
    ("scale.py", "scale"),
    ("shared.py", "reverse"),
    ("transpose.py", "transpose"),
    ("layernorm.py", "layernorm"),
    ("rmsnorm.py", "rmsnorm"),
    ("scan.py", "scan"),
    ("histogram.py", "histogram"),
    ("gemm.py", "gemm"),
]


class Source(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("name", ctypes.c_char_p),
        ("text", ctypes.c_char_p),
        ("text_size", ctypes.c_size_t),
        ("kind", ctypes.c_int),
        ("entry", ctypes.c_char_p),
        ("defines", ctypes.c_void_p),
        ("define_count", ctypes.c_size_t),
        ("find_import", ctypes.c_void_p),
        ("release_import", ctypes.c_void_p),
        ("import_user", ctypes.c_void_p),
    ]


SINK = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Ours:
    def __init__(self, path):
        self.tirc = ctypes.CDLL(path)
        self.tirc.tirc_session_create.restype = ctypes.c_void_p
        self.session = ctypes.c_void_p(self.tirc.tirc_session_create(None))
        self.sink = SINK(self.take)
        self.taken = 0

    def take(self, _user, _data, size):
        self.taken += size
        return True

    def load(self, name, text, entry):
        module = ctypes.c_void_p()
        source = Source(ctypes.sizeof(Source), name, text, len(text), 0, entry, None, 0, None, None, None)
        status = self.tirc.tirc_load(self.session, ctypes.byref(source), ctypes.byref(module))
        if status != 0:
            raise SystemExit(f"{name.decode()}: tirc_load gives {status}")
        return module

    def destroy(self, module):
        status = self.tirc.tirc_module_destroy(module)
        if status != 0:
            raise SystemExit(f"tirc_module_destroy gives {status}")

    def compile(self, name, text, entry):
        module = self.load(name, text, entry)
        self.emit(module)
        self.destroy(module)

    def emit(self, module):
        self.taken = 0
        status = self.tirc.tirc_emit(module, 0, None, self.sink, None)
        if status != 0 or self.taken == 0:
            raise SystemExit(f"tirc_emit gives {status}")


def least(rounds, work):
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def load(path):
    """The file as a module of its own: Python runs it, and the reference's parser reads the kernel."""
    spec = importlib.util.spec_from_file_location("kernel_file", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_reference():
    import tvm_tirx
    from tvm_tirx.backend.config import prepare_target
    from tvm_tirx.target import Target
    from tvm_tirx.tirx import _compile

    target = Target({"kind": "cuda", "arch": "sm_90a"})
    host = Target("c")

    def compile_function(function):
        """The device half of the reference's own tirx.compile."""
        module = tvm_tirx.IRModule.from_expr(function)
        ready = prepare_target(target, module)
        lower, _finish_host, finish_device = tvm_tirx.tirx.get_default_tir_pipeline(
            ready, module, target_to_bind=ready.with_host(host)
        )
        _, groups = _compile._split_host_device_modules(lower(module))
        text = ""
        for (kind, _config), group in groups.items():
            text += _compile._build_for_target(finish_device()(group), kind).inspect_source()
        if "__global__" not in text:
            raise SystemExit("the reference made no CUDA text")

    return compile_function, tvm_tirx.__version__


def main():
    library, examples = sys.argv[1:3]
    try:
        compile_function, version = make_reference()
    except ImportError as error:
        print(f"to CUDA text, in process, against the reference: it is not installed here ({error})")
        return 0
    ours, over, totals = Ours(library), False, [0.0, 0.0, 0.0, 0.0]
    print(f"to CUDA text, in process, against apache-tvm-tirx {version} (least of several; limit {LIMIT} times)")
    print(f"  {'ms':<24}{'script: tirc':>14}{'reference':>11}{'times':>7}{'parsed: tirc':>14}{'reference':>11}{'times':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for file, entry in KERNELS:
            with open(os.path.join(examples, file), "rb") as stream:
                text = stream.read()
            path = os.path.join(folder, file)
            with open(path, "wb") as stream:
                stream.write(text)
            name, kernel = file.encode(), entry.encode()
            parsed, module = getattr(load(path), entry), ours.load(name, text, kernel)
            row, under = f"  {file + ':' + entry:<24}", False
            for column, (our_work, their_work) in enumerate((
                (lambda: ours.compile(name, text, kernel), lambda: compile_function(getattr(load(path), entry))),
                (lambda: ours.emit(module), lambda: compile_function(parsed)),
            )):
                mine, theirs = least(OUR_ROUNDS, our_work), least(ROUNDS, their_work)
                under = under or (column == 0 and theirs < LIMIT * mine)
                totals[2 * column] += mine
                totals[2 * column + 1] += theirs
                row += f"{mine:14.3f}{theirs:11.1f}{theirs / mine:7.0f}"
            over = over or under
            print(row + ("  UNDER" if under else ""))
    row = f"  {'all of them':<24}"
    for mine, theirs in (totals[:2], totals[2:]):
        row += f"{mine:14.3f}{theirs:11.1f}{theirs / mine:7.0f}"
    print(row)
    return 1 if over or totals[1] < LIMIT * totals[0] else 0


sys.exit(main())
