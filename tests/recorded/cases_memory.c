/* SPDX-License-Identifier: Apache-2.0
 * Cases of what threads do together: shuffles, votes, matches, reductions, atomics, loads and stores,
 * ldmatrix, stmatrix, movmatrix, asynchronous copies and mbarriers. */
#include "cases.h"
#include <stdio.h>
#include <string.h>

static void collectives(case_builder *b) {
    case_start(b, "shfl", 64);
    unsigned value = case_input(b, CASE_BITS), lane = case_input(b, CASE_LANE);
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    static const unsigned clamps[] = {0, 31, 0x1800, 0x181f, 0x1c03, 0x101f, 0x0f07};
    for (unsigned m = 0; m < 4; m++)
        for (unsigned c = 0; c < 7; c++) {
            char name[64];
            snprintf(name, sizeof name, "shfl.sync.%s.b32/%x", modes[m], clamps[c]);
            unsigned o = case_part_add(b, name, 2);
            case_put(&b->body,
                     "{\n.reg .pred p;\nshfl.sync.%s.b32 %%o%u|p, %%i%u, %%i%u, %u, -1;\nselp.u32 %%o%u, 1, "
                     "0, p;\n}\n",
                     modes[m], o, value, lane, clamps[c], o + 1);
        }
    case_end(b);

    case_start(b, "vote", 64);
    value = case_input(b, CASE_BITS);
    case_put(&b->body, ".reg .pred q, r;\nand.b32 %%t3, %%i%u, 1;\nsetp.ne.u32 q, %%t3, 0;\n", value);
    static const char *const votes[] = {"all", "any", "uni"};
    for (unsigned v = 0; v < 3; v++) {
        char name[64];
        snprintf(name, sizeof name, "vote.sync.%s.pred", votes[v]);
        unsigned o = case_part_add(b, name, 1);
        case_put(&b->body, "vote.sync.%s.pred r, q, -1;\nselp.u32 %%o%u, 1, 0, r;\n", votes[v], o);
    }
    unsigned o = case_part_add(b, "vote.sync.ballot.b32", 1);
    case_put(&b->body, "vote.sync.ballot.b32 %%o%u, q, -1;\n", o);
    o = case_part_add(b, "elect.sync", 2);
    case_put(&b->body,
             "and.b32 %%t3, %%t7, 31;\nsetp.ge.u32 r, %%t3, 5;\nmov.b32 %%o%u, 0;\nmov.b32 %%o%u, 0;\n@!r "
             "bra ELECTED;\n"
             "elect.sync %%o%u|r, 0xffffffe0;\nselp.u32 %%o%u, 1, 0, r;\nELECTED:\nbar.warp.sync -1;\n",
             o, o + 1, o, o + 1);
    case_end(b);

    case_start(b, "match", 64);
    value = case_input(b, CASE_LANE);
    o = case_part_add(b, "match.any.sync.b32", 1);
    case_put(&b->body, "and.b32 %%t3, %%i%u, 5;\nmatch.any.sync.b32 %%o%u, %%t3, -1;\n", value, o);
    o = case_part_add(b, "match.all.sync.b32", 2);
    case_put(&b->body, ".reg .pred q;\nmatch.all.sync.b32 %%o%u|q, %%t1, -1;\nselp.u32 %%o%u, 1, 0, q;\n", o,
             o + 1);
    o = case_part_add(b, "match.all.sync.b32/differ", 2);
    case_put(&b->body, "match.all.sync.b32 %%o%u|q, %%i%u, -1;\nselp.u32 %%o%u, 1, 0, q;\n", o, value, o + 1);
    o = case_part_add(b, "match.any.sync.b64", 1);
    case_put(&b->body, "mov.b64 %%a3, {%%t3, %%t3};\nmatch.any.sync.b64 %%o%u, %%a3, -1;\n", o);
    case_end(b);

    case_start(b, "redux", 64);
    value = case_input(b, CASE_INT);
    static const char *const reductions[] = {"add.s32", "add.u32", "min.s32", "min.u32", "max.s32",
                                             "max.u32", "and.b32", "or.b32",  "xor.b32"};
    for (unsigned r = 0; r < 9; r++) {
        char name[64];
        snprintf(name, sizeof name, "redux.sync.%s", reductions[r]);
        o = case_part_add(b, name, 1);
        case_put(&b->body, "redux.sync.%s %%o%u, %%i%u, -1;\n", reductions[r], o, value);
    }
    case_end(b);
}

/* Atomics of a place that each thread has for itself: results do not depend on the order. */
static void atomics(case_builder *b, const char *space, bool returns) {
    static const struct {
        const char *op, *type;
        unsigned words;
        case_kind kind;
    } rows[] = {
        {"add", "u32", 1, CASE_INT},
        {"add", "s32", 1, CASE_INT},
        {"add", "u64", 2, CASE_INT},
        {"add", "f32", 1, CASE_F32},
        {"add", "f64", 2, CASE_F64_LOW},
        {"add.noftz", "f16x2", 1, CASE_F16X2},
        {"add.noftz", "bf16x2", 1, CASE_BF16X2},
        {"min", "u32", 1, CASE_INT},
        {"min", "s32", 1, CASE_INT},
        {"max", "u32", 1, CASE_INT},
        {"max", "s32", 1, CASE_INT},
        {"min", "u64", 2, CASE_INT},
        {"max", "s64", 2, CASE_INT},
        {"and", "b32", 1, CASE_INT},
        {"or", "b32", 1, CASE_INT},
        {"xor", "b32", 1, CASE_INT},
        {"and", "b64", 2, CASE_INT},
        {"inc", "u32", 1, CASE_INT},
        {"dec", "u32", 1, CASE_INT},
        {"exch", "b32", 1, CASE_INT},
        {"exch", "b64", 2, CASE_INT},
        {"cas", "b32", 1, CASE_LANE},
        {"cas", "b64", 2, CASE_LANE},
    };
    char name[64];
    snprintf(name, sizeof name, "%s_%s", returns ? "atom" : "red", space);
    case_start(b, name, 64);
    bool shared = strcmp(space, "shared") == 0;
    case_put(&b->before, ".shared .align 16 .b8 sm[1024];\n");
    case_put(&b->body, "mov.u64 %%a4, sm;\nmul.wide.u32 %%a5, %%t7, 16;\nadd.s64 %%a4, %%a4, %%a5;\n");
    if (!shared)
        case_put(&b->body, "mov.u64 %%a4, %%a1;\n");
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        bool wide = rows[r].words == 2, swaps = rows[r].op[0] == 'e' || rows[r].op[0] == 'c';
        if (!returns && swaps)
            continue;
        unsigned i = case_input(b, rows[r].kind);
        case_kind high = rows[r].kind == CASE_F64_LOW ? CASE_F64_HIGH : CASE_INT_HIGH;
        if (wide)
            case_input(b, high);
        unsigned j = case_input(b, rows[r].kind);
        if (wide)
            case_input(b, high);
        snprintf(name, sizeof name, "%s.%s.%s.%s", returns ? "atom" : "red", space, rows[r].op, rows[r].type);
        unsigned o = case_part_add(b, name, 2 * rows[r].words);
        const char *bits = wide ? "b64" : "b32",
                   *cas = strcmp(rows[r].op, "cas") == 0 ? (wide ? ", 7" : ", 5") : "";
        case_put(&b->body, "{\n.reg .%s x, y, z;\n", bits);
        if (wide)
            case_put(&b->body, "mov.b64 x, {%%i%u, %%i%u};\nmov.b64 y, {%%i%u, %%i%u};\n", i, i + 1, j,
                     j + 1);
        else
            case_put(&b->body, "mov.b32 x, %%i%u;\nmov.b32 y, %%i%u;\n", i, j);
        /* the first out words of a thread are 4-byte aligned only: 64-bit places are rounded down to 16 */
        if (!shared && wide)
            case_put(&b->body, "and.b64 %%a4, %%a1, -8;\n");
        else if (!shared)
            case_put(&b->body, "mov.u64 %%a4, %%a1;\n");
        case_put(&b->body, "st.%s.%s [%%a4], x;\n", space, bits);
        if (returns)
            case_put(&b->body, "atom.%s.%s.%s z, [%%a4], y%s;\n", space, rows[r].op, rows[r].type, cas);
        else
            case_put(&b->body, "red.%s.%s.%s [%%a4], y;\nmov.%s z, 0;\n", space, rows[r].op, rows[r].type,
                     bits);
        case_put(&b->body, "ld.%s.%s x, [%%a4];\n", space, bits);
        if (wide)
            case_put(&b->body, "mov.b64 {%%o%u, %%o%u}, z;\nmov.b64 {%%o%u, %%o%u}, x;\n}\n", o, o + 1, o + 2,
                     o + 3);
        else
            case_put(&b->body, "mov.b32 %%o%u, z;\nmov.b32 %%o%u, x;\n}\n", o, o + 1);
    }
    /* room behind, so that rounding down stays inside */
    if (!shared) {
        unsigned pad = b->c.out_words & 1;
        if (pad) {
            unsigned o = case_part_add(b, "pad", 1);
            case_put(&b->body, "mov.b32 %%o%u, 0;\n", o);
        }
    }
    case_end(b);
}

/* Every thread leaves 16 bytes at tid * 16 of `sm`; %t3: address of the row that lane l names, a permutation.
 */
static void fill_shared(case_builder *b) {
    unsigned i = case_input(b, CASE_BITS);
    for (unsigned k = 1; k < 8; k++)
        case_input(b, CASE_BITS);
    case_put(&b->before, ".shared .align 128 .b8 sm[1024];\n");
    case_put(&b->body,
             ".reg .b32 base;\nmov.u32 base, sm;\nshl.b32 %%t4, %%t7, 5;\nadd.u32 %%t4, %%t4, base;\n"
             "st.shared.v4.b32 [%%t4], {%%i%u, %%i%u, %%i%u, %%i%u};\n"
             "st.shared.v4.b32 [%%t4+16], {%%i%u, %%i%u, %%i%u, %%i%u};\nbar.sync 0;\n"
             "mul.lo.u32 %%t5, %%t7, 11;\nadd.u32 %%t5, %%t5, 3;\nand.b32 %%t5, %%t5, 63;\nshl.b32 %%t5, "
             "%%t5, 4;\n"
             "add.u32 %%t3, %%t5, base;\n",
             i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7);
}

static void register_list(case_text *text, const char *prefix, unsigned first, unsigned count) {
    case_put(text, "{");
    for (unsigned k = 0; k < count; k++)
        case_put(text, "%s%s%u", k ? ", " : "", prefix, first + k);
    case_put(text, "}");
}

static void matrices(case_builder *b) {
    case_start(b, "ldmatrix", 32);
    fill_shared(b);
    for (unsigned t = 0; t < 2; t++)
        for (unsigned n = 1; n <= 4; n *= 2) {
            char name[64];
            snprintf(name, sizeof name, "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16", n, t ? ".trans" : "");
            unsigned o = case_part_add(b, name, n);
            case_put(&b->body, "%s ", name);
            register_list(&b->body, "%o", o, n);
            case_put(&b->body, ", [%%t3];\n");
        }
    unsigned o = case_part_add(b, "movmatrix.sync.aligned.m8n8.trans.b16", 1);
    case_put(&b->body, "movmatrix.sync.aligned.m8n8.trans.b16 %%o%u, %%i0;\n", o);
    case_end(b);
    for (unsigned t = 0; t < 2; t++)
        for (unsigned n = 1; n <= 4; n *= 2) {
            char name[64];
            snprintf(name, sizeof name, "stmatrix_x%u%s", n, t ? "_trans" : "");
            case_start(b, name, 32);
            fill_shared(b);
            unsigned values = case_input(b, CASE_BITS);
            for (unsigned k = 1; k < n; k++)
                case_input(b, CASE_BITS);
            snprintf(name, sizeof name, "stmatrix.sync.aligned.m8n8.x%u%s.shared.b16", n, t ? ".trans" : "");
            o = case_part_add(b, name, 8);
            case_put(&b->body, "%s [%%t3], ", name);
            register_list(&b->body, "%i", values, n);
            case_put(&b->body, ";\nbar.sync 0;\nld.shared.v4.b32 ");
            register_list(&b->body, "%o", o, 4);
            case_put(&b->body, ", [%%t4];\nld.shared.v4.b32 ");
            register_list(&b->body, "%o", o + 4, 4);
            case_put(&b->body, ", [%%t4+16];\n");
            case_end(b);
        }
}

static void loads(case_builder *b) {
    case_start(b, "loads", 32);
    fill_shared(b);
    static const struct {
        const char *type;
        unsigned words;
    } types[] = {{"u8", 1}, {"s8", 1}, {"u16", 1}, {"s16", 1}, {"u32", 1}, {"s32", 1}, {"b64", 2}};
    for (unsigned t = 0; t < 7; t++) {
        char name[64];
        snprintf(name, sizeof name, "ld.shared.%s", types[t].type);
        unsigned o = case_part_add(b, name, types[t].words);
        if (types[t].words == 2)
            case_put(&b->body, "ld.shared.b64 %%a3, [%%t4+8];\nmov.b64 {%%o%u, %%o%u}, %%a3;\n", o, o + 1);
        else
            case_put(&b->body, "ld.shared.%s %%o%u, [%%t4+4];\n", types[t].type, o);
    }
    unsigned o = case_part_add(b, "ld.shared.s32 to 64", 2);
    case_put(&b->body, "ld.shared.s32 %%a3, [%%t4+12];\nmov.b64 {%%o%u, %%o%u}, %%a3;\n", o, o + 1);
    o = case_part_add(b, "st.shared.u8", 1);
    case_put(&b->body, "st.shared.u8 [%%t4+1], %%i7;\nld.shared.u32 %%o%u, [%%t4];\n", o);
    o = case_part_add(b, "ld.shared.v2.u8", 2);
    case_put(&b->body, "ld.shared.v2.u8 {%%o%u, %%o%u}, [%%t4+6];\n", o, o + 1);
    case_end(b);
}

static void copies(case_builder *b) {
    case_start(b, "cp_async", 32);
    for (unsigned k = 0; k < 8; k++)
        case_input(b, CASE_BITS);
    case_put(&b->before, ".shared .align 128 .b8 sm[1024];\n");
    /* in words of a thread: 32 bytes at %a0 */
    case_put(&b->body,
             "mov.u32 %%t3, sm;\nshl.b32 %%t4, %%t7, 5;\nadd.u32 %%t4, %%t4, %%t3;\n"
             "st.shared.v4.b32 [%%t4], {-1, -1, -1, -1};\nst.shared.v4.b32 [%%t4+16], {-1, -1, -1, -1};\n");
    static const char *const copies[] = {
        "cp.async.ca.shared.global [%t4], [%a0], 4;",       "cp.async.ca.shared.global [%t4], [%a0], 8;",
        "cp.async.ca.shared.global [%t4], [%a0], 16;",      "cp.async.cg.shared.global [%t4+16], [%a0], 16;",
        "cp.async.ca.shared.global [%t4], [%a0], 16, 5;",   "cp.async.cg.shared.global [%t4], [%a0], 16, 12;",
        "cp.async.ca.shared.global [%t4+4], [%a0+4], 4, 0;"};
    for (unsigned k = 0; k < 7; k++) {
        unsigned o = case_part_add(b, copies[k], 8);
        case_put(&b->body, "%s\ncp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.v4.b32 ",
                 copies[k]);
        register_list(&b->body, "%o", o, 4);
        case_put(&b->body, ", [%%t4];\nld.shared.v4.b32 ");
        register_list(&b->body, "%o", o + 4, 4);
        case_put(&b->body, ", [%%t4+16];\n");
    }
    case_end(b);

    /* 1 KiB to shared memory, and from there back to global memory */
    case_start(b, "cp_async_bulk", 32);
    for (unsigned k = 0; k < 8; k++)
        case_input(b, CASE_BITS);
    case_put(&b->before, ".shared .align 128 .b8 sm[1024];\n.shared .align 8 .b64 bar;\n");
    unsigned o = case_part_add(b, "cp.async.bulk.shared::cluster.global.mbarrier", 8);
    case_put(
        &b->body,
        ".reg .pred q, r;\n.reg .b32 sa, ba, bytes;\n.reg .b64 ga, st;\nmov.u32 sa, sm;\nmov.u32 ba, bar;\n"
        "setp.eq.u32 q, %%t7, 0;\nshl.b32 bytes, %%t7, 5;\ncvt.u64.u32 ga, bytes;\nsub.s64 ga, %%a0, ga;\n"
        "@q mbarrier.init.shared.b64 [ba], 1;\nfence.proxy.async;\nbar.sync 0;\n"
        "@q mbarrier.arrive.expect_tx.shared.b64 st, [ba], 1024;\n"
        "@q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sa], [ga], 1024, [ba];\n"
        "WAIT:\nmbarrier.try_wait.parity.shared.b64 r, [ba], 0;\n@!r bra WAIT;\n"
        "mul.lo.u32 bytes, %%t7, 7;\nand.b32 bytes, bytes, 31;\nshl.b32 bytes, bytes, 5;\nadd.u32 bytes, "
        "bytes, sa;\n"
        "ld.shared.v4.b32 ");
    register_list(&b->body, "%o", o, 4);
    case_put(&b->body, ", [bytes];\nld.shared.v4.b32 ");
    register_list(&b->body, "%o", o + 4, 4);
    case_put(&b->body, ", [bytes+16];\n");
    case_end(b);

    case_start(b, "mbarrier", 32);
    case_input(b, CASE_BITS);
    case_put(&b->before, ".shared .align 8 .b64 bar;\n");
    o = case_part_add(b, "mbarrier.pending_count", 1);
    unsigned waits = case_part_add(b, "mbarrier.test_wait", 4),
             phase = case_part_add(b, "mbarrier.arrive.drop", 3);
    case_put(&b->body,
             ".reg .pred q, r;\n.reg .b32 ba;\n.reg .b64 st;\nmov.u32 ba, bar;\nsetp.eq.u32 q, %%t7, 0;\n"
             "mov.b32 %%o%u, 0;\n",
             o);
    for (unsigned k = 0; k < 7; k++)
        case_put(&b->body, "mov.b32 %%o%u, 0;\n", waits + k);
    case_put(&b->body,
             "@!q bra DONE;\nmbarrier.init.shared.b64 [ba], 5;\n"
             "mbarrier.arrive.shared.b64 st, [ba], 2;\nmbarrier.pending_count.b64 %%o%u, st;\n"
             "mbarrier.test_wait.shared.b64 r, [ba], st;\nselp.u32 %%o%u, 1, 0, r;\n"
             "mbarrier.arrive.shared.b64 _, [ba], 3;\nmbarrier.test_wait.shared.b64 r, [ba], st;\nselp.u32 "
             "%%o%u, 1, 0, r;\n"
             "mbarrier.test_wait.parity.shared.b64 r, [ba], 0;\nselp.u32 %%o%u, 1, 0, r;\n"
             "mbarrier.test_wait.parity.shared.b64 r, [ba], 1;\nselp.u32 %%o%u, 1, 0, r;\n"
             "mbarrier.arrive_drop.shared.b64 st, [ba], 1;\nmbarrier.pending_count.b64 %%o%u, st;\n"
             "mbarrier.arrive.shared.b64 _, [ba], 4;\nmbarrier.arrive.shared.b64 st, [ba];\n"
             "mbarrier.pending_count.b64 %%o%u, st;\nmbarrier.test_wait.parity.shared.b64 r, [ba], 0;\n"
             "selp.u32 %%o%u, 1, 0, r;\nDONE:\n",
             o, waits, waits + 1, waits + 2, waits + 3, phase, phase + 1, phase + 2);
    case_end(b);
}

void cases_memory(case_taker *take, void *user) {
    case_builder b = {.take = take, .user = user};
    collectives(&b);
    for (unsigned i = 0; i < 4; i++)
        atomics(&b, i & 1 ? "global" : "shared", i < 2);
    matrices(&b);
    loads(&b);
    copies(&b);
}
