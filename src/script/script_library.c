/* SPDX-License-Identifier: Apache-2.0
 * Classes of the dialect that are written in the dialect itself: barriers over the stages of a ring, the
 * state of a pipeline, the order of tiles in a persistent kernel, filter. They are evaluated when a script
 * first names one. Knows nothing of how classes work (script_class.c). */
#include "script/script_evaluate.h"
#include <string.h>

static const char *const names[] = {
    "PipelineState", "MBarrier",     "TMABar", "TCGen05Bar", "ClusterPersistentScheduler2D",
    "filter",        "print_buffer", "undef"};

/* clang-format off */
static const char text[] =
    "@T.meta_class\n"
    "class PipelineState:\n"
    "    def __init__(self, depth, phase=None):\n"
    "        self.depth = depth\n"
    "        self.stage = T.local_scalar('int32')\n"
    "        self.phase = T.local_scalar('int32')\n"
    "        if phase is not None:\n"
    "            self.init(phase)\n"
    "    @T.inline\n"
    "    def init(self, phase):\n"
    "        self.stage = 0\n"
    "        self.phase = phase\n"
    "    @T.inline\n"
    "    def advance(self):\n"
    "        if self.depth == 1:\n"
    "            self.phase = self.phase ^ 1\n"
    "        else:\n"
    "            self.stage = self.stage + 1\n"
    "            if self.stage == self.depth:\n"
    "                self.stage = 0\n"
    "                self.phase = self.phase ^ 1\n"
    "\n"
    "class RemoteBarrier:\n"
    "    def __init__(self, base, phase_offset):\n"
    "        self.base = base\n"
    "        self.phase_offset = phase_offset\n"
    "    def ptr_to(self, index):\n"
    "        return self.base + T.cast(index[0], 'uint32') * T.uint32(8)\n"
    "    @T.inline\n"
    "    def arrive(self, stage, tx_count=None, count=None):\n"
    "        if tx_count is not None:\n"
    "            T.ptx['mbarrier.arrive.expect_tx.shared::cluster.b64'](self.ptr_to([stage]), tx_count)\n"
    "        elif count is not None:\n"
    "            T.ptx['mbarrier.arrive.shared::cluster.b64'](self.ptr_to([stage]), count)\n"
    "        else:\n"
    "            T.ptx['mbarrier.arrive.shared::cluster.b64'](self.ptr_to([stage]))\n"
    "    def init(self, count):\n"
    "        raise ValueError('a barrier of another CTA is set up there')\n"
    "    def wait(self, stage, phase):\n"
    "        raise ValueError('a barrier of another CTA cannot be waited for')\n"
    "    def remote_view(self, rank):\n"
    "        raise ValueError('this is a view of another CTA already')\n"
    "\n"
    "def filter(value, condition, end=None):\n"
    "    if end is None:\n"
    "        return condition\n"
    "    return T.And(condition <= value, value < end)\n"
    "\n"
    "def undef():\n"
    "    return T.int32(0)\n"
    "\n"
    "@T.inline\n"
    "def print_one(value, dtype):\n"
    "    if 'float' in str(dtype):\n"
    "        T.cuda.printf('%f', T.cast(value, 'float32'))\n"
    "    elif str(dtype) in ('uint64', 'int64'):\n"
    "        if 'uint' in str(dtype):\n"
    "            T.cuda.printf('%llu', value)\n"
    "        else:\n"
    "            T.cuda.printf('%lld', value)\n"
    "    elif 'uint' in str(dtype):\n"
    "        T.cuda.printf('%u', T.cast(value, 'uint32'))\n"
    "    else:\n"
    "        T.cuda.printf('%d', T.cast(value, 'int32'))\n"
    "\n"
    "@T.inline\n"
    "def print_level(elements, dtype, shape, level, outer):\n"
    "    for i in T.serial(shape[level]):\n"
    "        place = T.meta_var(outer * shape[level] + i)\n"
    "        if level == len(shape) - 1:\n"
    "            print_one(elements[place], dtype)\n"
    "            if i < shape[level] - 1:\n"
    "                T.cuda.printf(' ')\n"
    "        else:\n"
    "            T.cuda.printf('[')\n"
    "            print_level(elements, dtype, shape, level + 1, place)\n"
    "            T.cuda.printf(']')\n"
    "            if i < shape[level] - 1:\n"
    "                T.cuda.printf('\\n' + ' ' * (level + 2))\n"
    "\n"
    "@T.inline\n"
    "def print_elements(pointer, dtype, extents, total, head, sizes):\n"
    "    elements = T.decl_buffer((total,), dtype, data=pointer)\n"
    "    if T.cuda.linear_thread_id() == 0:\n"
    "        T.cuda.printf(head, *sizes)\n"
    "        print_level(elements, dtype, extents, 0, 0)\n"
    "        T.cuda.printf(']\\n')\n"
    "\n"
    "@T.inline\n"
    "def print_value(value, dtype):\n"
    "    if T.cuda.linear_thread_id() == 0:\n"
    "        T.cuda.printf(f'Scalar (dtype: {dtype}): ')\n"
    "        print_one(value, dtype)\n"
    "        T.cuda.printf('\\n\\n')\n"
    "\n"
    "@T.inline\n"
    "def print_text(value):\n"
    "    if T.cuda.linear_thread_id() == 0:\n"
    "        T.cuda.printf('%s\\n\\n', value)\n"
    "\n"
    "def print_buffer(buffer_var, dtype, is_string, is_scalar, dim_num, *shape):\n"
    "    extents = list(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else list(shape)\n"
    "    if is_string and is_scalar:\n"
    "        raise ValueError('print_buffer: it is a text or a scalar, not both')\n"
    "    if is_string:\n"
    "        print_text(buffer_var)\n"
    "        return\n"
    "    if is_scalar:\n"
    "        print_value(buffer_var, dtype)\n"
    "        return\n"
    "    if len(extents) != dim_num or dim_num < 1:\n"
    "        raise ValueError(f'print_buffer: {dim_num} axes, but {len(extents)} extents')\n"
    "    total = 1\n"
    "    for extent in extents:\n"
    "        total = total * extent\n"
    "    sizes = [extent for extent in extents if not isinstance(extent, int)]\n"
    "    shown = ','.join([str(extent) if isinstance(extent, int) else '%d' for extent in extents])\n"
    "    print_elements(buffer_var, dtype, extents, total, f'(shape=({shown}), dtype={dtype}):\\n[', sizes)\n"
    "\n"
    "@T.inline\n"
    "def remote_address(result, pointer, rank):\n"
    "    T.ptx['mapa.shared::cluster.u32'](result, pointer, rank)\n"
    "\n"
    "@T.meta_class\n"
    "class MBarrier:\n"
    "    def __init__(self, pool, depth, phase_offset=0, leader=None):\n"
    "        self.buf = pool.alloc((depth,), 'uint64', align=8)\n"
    "        self.depth = depth\n"
    "        self.phase_offset = phase_offset\n"
    "        self.leader = leader\n"
    "    def ptr_to(self, index):\n"
    "        return self.buf.ptr_to(index)\n"
    "    @T.inline\n"
    "    def init(self, count):\n"
    "        chosen = T.meta_var(T.cuda.thread_rank() == 0 if self.leader is None else self.leader)\n"
    "        if chosen:\n"
    "            for i in T.unroll(self.depth):\n"
    "                T.ptx['mbarrier.init.shared.b64'](self.buf.ptr_to([i]), count)\n"
    "    @T.inline\n"
    "    def wait(self, stage, phase):\n"
    "        done: T.bool = False\n"
    "        while done == False:\n"
    "            T.ptx['mbarrier.try_wait.parity.shared.b64'](done, self.buf.ptr_to([stage]),\n"
    "                                                         T.cast(phase ^ self.phase_offset, 'uint32'))\n"
    "    @T.inline\n"
    "    def signal(self, stage, tx_count, cta_id, pred, count):\n"
    "        if cta_id is not None:\n"
    "            there: T.uint32 = 0\n"
    "            remote_address(there, self.buf.ptr_to([stage]), cta_id)\n"
    "            if pred is None:\n"
    "                T.ptx['mbarrier.arrive.shared::cluster.b64'](there, 1 if count is None else count)\n"
    "            else:\n"
    "                T.ptx['mbarrier.arrive.shared::cluster.b64'](there, 1 if count is None else count, pred=pred)\n"
    "        elif tx_count is not None:\n"
    "            T.ptx['mbarrier.arrive.expect_tx.shared.b64'](T.ptx.SINK, self.buf.ptr_to([stage]), tx_count)\n"
    "        elif count is not None:\n"
    "            T.ptx['mbarrier.arrive.shared.b64'](T.ptx.SINK, self.buf.ptr_to([stage]), count)\n"
    "        else:\n"
    "            T.ptx['mbarrier.arrive.shared.b64'](T.ptx.SINK, self.buf.ptr_to([stage]))\n"
    "    @T.inline\n"
    "    def arrive(self, stage, cta_id=None, pred=None, count=None):\n"
    "        self.signal(stage, None, cta_id, pred, count)\n"
    "    def remote_view(self, rank):\n"
    "        there = T.local_scalar('uint32')\n"
    "        remote_address(there, self.buf.ptr_to([0]), rank)\n"
    "        return RemoteBarrier(there, self.phase_offset)\n"
    "\n"
    "class TMABar(MBarrier):\n"
    "    @T.inline\n"
    "    def arrive(self, stage, tx_count=None, cta_id=None, pred=None):\n"
    "        self.signal(stage, tx_count, cta_id, pred, None)\n"
    "\n"
    "class TCGen05Bar(MBarrier):\n"
    "    @T.inline\n"
    "    def arrive(self, stage, cta_group=1, cta_mask=None, pred=None):\n"
    "        base = T.meta_var(f'tcgen05.commit.cta_group::{cta_group}.mbarrier::arrive::one.shared::cluster')\n"
    "        if cta_mask is None or cta_mask == 0:\n"
    "            if pred is None:\n"
    "                T.ptx[base + '.b64'](self.buf.ptr_to([stage]))\n"
    "            else:\n"
    "                T.ptx[base + '.b64'](self.buf.ptr_to([stage]), pred=pred)\n"
    "        elif pred is None:\n"
    "            T.ptx[base + '.multicast::cluster.b64'](self.buf.ptr_to([stage]), T.cast(cta_mask, 'uint16'))\n"
    "        else:\n"
    "            T.ptx[base + '.multicast::cluster.b64'](self.buf.ptr_to([stage]), T.cast(cta_mask, 'uint16'), pred=pred)\n"
    "\n"
    "@T.meta_class\n"
    "class ClusterPersistentScheduler2D:\n"
    "    def __init__(self, prefix, num_m_tiles, num_n_tiles, num_clusters, l2_group_size=8, cluster_m=1,\n"
    "                 cluster_n=1, serpentine=False):\n"
    "        if serpentine:\n"
    "            raise ValueError('the serpentine order of tiles is not built')\n"
    "        self.m_idx = T.local_scalar('int32')\n"
    "        self.n_idx = T.local_scalar('int32')\n"
    "        self.linear_idx = T.local_scalar('int32')\n"
    "        self.tile_count = T.local_scalar('int32')\n"
    "        self.clusters = num_clusters\n"
    "        self.group = l2_group_size\n"
    "        self.cluster_m = cluster_m\n"
    "        self.cluster_n = cluster_n\n"
    "        self.rows = (num_m_tiles + cluster_m - 1) // cluster_m\n"
    "        self.columns = (num_n_tiles + cluster_n - 1) // cluster_n\n"
    "    @property\n"
    "    def work_idx(self):\n"
    "        return self.linear_idx\n"
    "    @property\n"
    "    def tile_idx(self):\n"
    "        return self.tile_count\n"
    "    @T.inline\n"
    "    def update_current_m_n_idx(self, number):\n"
    "        of_cluster = T.meta_var(number // self.cluster_m // self.cluster_n)\n"
    "        span = T.meta_var(self.group * self.columns)\n"
    "        first: T.let = of_cluster // span * self.group\n"
    "        within: T.let = of_cluster % span\n"
    "        height: T.let = T.max(T.min(self.rows - first, self.group), 1)\n"
    "        self.m_idx = (first + within % height) * self.cluster_m + number % self.cluster_m\n"
    "        self.n_idx = within // height * self.cluster_n + number // self.cluster_m % self.cluster_n\n"
    "    @T.inline\n"
    "    def init(self, number):\n"
    "        self.linear_idx = number\n"
    "        self.tile_count = 0\n"
    "        self.update_current_m_n_idx(self.linear_idx)\n"
    "    @T.inline\n"
    "    def next_tile(self):\n"
    "        self.linear_idx = self.linear_idx + self.clusters\n"
    "        self.tile_count = self.tile_count + 1\n"
    "        self.update_current_m_n_idx(self.linear_idx)\n"
    "    def valid(self):\n"
    "        return self.linear_idx < self.rows * self.columns * self.cluster_m * self.cluster_n\n";
/* clang-format on */

/* Outside of any kernel, whatever is being built where the name stands. */
static script_scope *load(script_evaluator *e) {
    const script_options options = {.names = e->names};
    uint32_t file = base_sources_add(base_diagnostics_sources(e->diagnostics), "tvm.backend.cuda.lang", text,
                                     sizeof(text) - 1);
    e->library_file = file;
    script_ast *ast = script_parse(e->arena, e->diagnostics, file, &options);
    script_evaluator outer = *e;
    e->function = NULL;
    e->block = NULL;
    e->is_python = false;
    e->scope = e->builtin_scope;
    script_scope *scope = script_scope_open(e, true);
    e->module_scope = scope;
    script_bind(e, "T", (script_value){.kind = SCRIPT_VALUE_NAMESPACE, .as.string.text = ""},
                SCRIPT_BIND_PLAIN, BASE_NO_SPAN);
    script_statements(e, &ast->body);
    e->function = outer.function;
    e->block = outer.block;
    e->is_python = outer.is_python;
    e->scope = outer.scope;
    e->module_scope = outer.module_scope;
    return scope;
}

bool script_library_find(script_evaluator *e, const char *name, script_value *out) {
    bool known = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        known |= strcmp(names[i], name) == 0;
    if (!known)
        return false;
    if (!e->library)
        e->library = load(e);
    script_scope *scope = e->scope;
    e->scope = e->library;
    script_binding *binding = script_find(e, name);
    e->scope = scope;
    if (!binding)
        return false;
    *out = binding->value;
    return true;
}
