/* SPDX-License-Identifier: Apache-2.0
 * The race checker against the slowest model there is: a full vector clock for each thread, and every pair of
 * accesses compared. Random programs of stores, loads, barriers of all kinds and flags: under every schedule
 * each reported pair of places is a race of the model, and every word with a race is reported. */
#include <stdlib.h>
#include "unit/vm_help.h"

enum { WORDS = 6, STEPS = 18, THREADS = 80, WARPS = 3, BARRIERS = 4, ACCESSES = 3000, PROGRAMS = 400 };

typedef enum step_kind {
    STORE,
    LOAD,
    ATOMIC,
    SYNC,      /* bar.sync 0 by all */
    PAIR,      /* bar.sync 1, 64 by two warps */
    HAND_OVER, /* bar.arrive by the first warp, bar.sync by the second */
    MEET,      /* bar.warp.sync of the lanes */
    ARRIVE,    /* at mbarrier `barrier`, by the lanes */
    WAIT,
    RELEASE, /* st.release of flag `barrier`, by one thread */
    ACQUIRE,
    KINDS
} step_kind;
typedef struct step {
    step_kind kind;
    uint32_t lanes[WARPS]; /* who takes part */
    uint32_t word, spread; /* word + lane * spread, modulo WORDS */
    uint32_t barrier;
    uint32_t line;
} step;
typedef struct access {
    uint32_t thread, step, clock, word;
    uint32_t known[THREADS];
} access;
typedef struct model {
    step steps[STEPS];
    uint32_t count;
    uint32_t clocks[THREADS][THREADS];
    uint32_t barriers[BARRIERS][THREADS], flags[BARRIERS][THREADS];
    uint32_t arrivals[BARRIERS];
    access accesses[ACCESSES];
    uint32_t access_count;
    bool racy[STEPS][STEPS];             /* earlier step, later step */
    bool racy_word[WORDS][STEPS][STEPS]; /* the same, by word */
} model;

static uint64_t seed;
static uint32_t draw(uint32_t below) {
    seed = base_hash_mix(seed, 0x51ed);
    return (uint32_t)(seed >> 33) % below;
}

static uint32_t lanes_of(uint32_t warp) {
    return warp * 32 + 32 <= THREADS ? 0xffffffffu : (1u << (THREADS - warp * 32)) - 1;
}

static uint32_t draw_lanes(uint32_t warp) {
    switch (draw(5)) {
    case 0:
        return lanes_of(warp);
    case 1:
        return 1u << draw(16);
    case 2:
        return 0xffffu;
    case 3:
        return (1u << draw(16)) | 1u << draw(16);
    default:
        return 0;
    }
}

/* ---- programs ---- */
/* tidy: one thread stores at a time, and there are more barriers: often no race. */
static void draw_program(model *m, bool tidy) {
    bool arrived[BARRIERS] = {false}, released[BARRIERS] = {false};
    uint32_t next = 2; /* named barriers, each used once */
    memset(m, 0, sizeof *m);
    for (m->count = 0; m->count < STEPS;) {
        step *s = &m->steps[m->count];
        *s = (step){.kind = (step_kind)draw(KINDS),
                    .word = draw(WORDS),
                    .spread = draw(3),
                    .barrier = draw(BARRIERS)};
        if (draw(2))
            s->kind = draw(2) ? STORE : LOAD;
        uint32_t any = 0;
        for (uint32_t w = 0; w < WARPS; w++) {
            s->lanes[w] = draw(2) ? draw_lanes(w) : 0;
            any |= s->lanes[w];
        }
        if (tidy && s->kind == STORE) {
            memset(s->lanes, 0, sizeof s->lanes);
            s->lanes[draw(2)] = any = 1u << draw(32);
        }
        if (tidy && (s->kind == SYNC || draw(2) == 0))
            s->kind = SYNC;
        uint32_t first = draw(2), second = 1 - first; /* warps 0 and 1 are whole */
        switch (s->kind) {
        case SYNC:
            for (uint32_t w = 0; w < WARPS; w++)
                s->lanes[w] = lanes_of(w);
            break;
        case PAIR:
            s->lanes[0] = s->lanes[1] = 0xffffffffu;
            s->lanes[2] = 0;
            break;
        case HAND_OVER:
            if (next == 16)
                continue;
            s->lanes[first] = 1;
            s->lanes[second] = 2; /* not lanes: who arrives, who waits */
            s->lanes[2] = 0;
            s->barrier = next++;
            break;
        case ARRIVE:
            if (arrived[s->barrier] || !any)
                continue;
            arrived[s->barrier] = true;
            break;
        case WAIT:
            if (!arrived[s->barrier] || !any)
                continue;
            break;
        case RELEASE:
            if (released[s->barrier])
                continue;
            released[s->barrier] = true;
            memset(s->lanes, 0, sizeof s->lanes);
            s->lanes[draw(2)] = 1u << draw(32);
            break;
        case ACQUIRE:
            if (!released[s->barrier] || !any)
                continue;
            break;
        default:
            if (!any)
                continue;
        }
        m->count++;
    }
}

/* ---- the model ---- */
static void join(uint32_t *into, const uint32_t *from) {
    for (uint32_t t = 0; t < THREADS; t++)
        into[t] = into[t] > from[t] ? into[t] : from[t];
}

static bool takes_part(const step *s, uint32_t thread) {
    return s->lanes[thread / 32] >> thread % 32 & 1;
}

/* What the threads of the step know goes together; learn: they all know it then. */
static void gather(model *m, const step *s, uint32_t *all, bool learn, uint32_t first, uint32_t end) {
    for (uint32_t t = first; t < end; t++)
        if (takes_part(s, t))
            join(all, m->clocks[t]);
    for (uint32_t t = first; t < end; t++)
        if (takes_part(s, t)) {
            if (learn)
                join(m->clocks[t], all);
            m->clocks[t][t]++;
        }
}

static void model_sync(model *m, const step *s) {
    uint32_t all[THREADS] = {0};
    switch (s->kind) {
    case SYNC:
    case PAIR:
        gather(m, s, all, true, 0, THREADS);
        break;
    case HAND_OVER:
        for (uint32_t t = 0; t < 64; t++)
            join(all, m->clocks[t]);
        for (uint32_t t = 0; t < 64; t++) {
            if (s->lanes[t / 32] == 2)
                join(m->clocks[t], all);
            m->clocks[t][t]++;
        }
        break;
    case MEET:
        for (uint32_t w = 0; w < WARPS; w++) {
            memset(all, 0, sizeof all);
            gather(m, s, all, true, w * 32, w * 32 + 32 < THREADS ? w * 32 + 32 : THREADS);
        }
        break;
    case ARRIVE:
        gather(m, s, m->barriers[s->barrier], false, 0, THREADS);
        break;
    case RELEASE:
        gather(m, s, m->flags[s->barrier], false, 0, THREADS);
        break;
    default: /* WAIT, ACQUIRE */
        for (uint32_t t = 0; t < THREADS; t++)
            if (takes_part(s, t))
                join(m->clocks[t], s->kind == WAIT ? m->barriers[s->barrier] : m->flags[s->barrier]);
    }
}

static bool is_access(step_kind kind) {
    return kind == STORE || kind == LOAD || kind == ATOMIC;
}

static void model_run(model *m) {
    for (uint32_t t = 0; t < THREADS; t++)
        m->clocks[t][t] = 1;
    for (uint32_t i = 0; i < m->count; i++) {
        const step *s = &m->steps[i];
        if (!is_access(s->kind)) {
            model_sync(m, s);
            continue;
        }
        for (uint32_t t = 0; t < THREADS; t++) {
            if (!takes_part(s, t))
                continue;
            access *a = &m->accesses[m->access_count++];
            *a = (access){t, i, m->clocks[t][t], (s->word + t % 32 * s->spread) % WORDS, {0}};
            memcpy(a->known, m->clocks[t], sizeof a->known);
        }
    }
    for (uint32_t i = 0; i < m->access_count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const access *a = &m->accesses[k], *b = &m->accesses[i];
            step_kind x = m->steps[a->step].kind, y = m->steps[b->step].kind;
            if (a->word != b->word || a->thread == b->thread || (x == LOAD && y == LOAD) ||
                (x == ATOMIC && y == ATOMIC) || b->known[a->thread] >= a->clock)
                continue;
            m->racy[a->step][b->step] = m->racy_word[a->word][a->step][b->step] = true;
        }
}

/* ---- the machine ---- */
static void write_guard(base_builder *out, const step *s, uint32_t number) {
    base_builder_format(out, "mov.u32 %%r1, %u;\nmov.u32 %%r2, %u;\nmov.u32 %%r3, %u;\n", s->lanes[0],
                        s->lanes[1], s->lanes[2]);
    base_builder_string(
        out, "selp.u32 %r4, %r1, %r2, %p1;\nselp.u32 %r4, %r3, %r4, %p2;\nshr.u32 %r4, %r4, %r11;\n"
             "and.b32 %r4, %r4, 1;\nsetp.eq.u32 %p3, %r4, 0;\n");
    base_builder_format(out, "@%%p3 bra after%u;\n", number);
}

static void write_step(base_builder *out, const step *s, uint32_t number) {
    if (s->kind == SYNC) {
        base_builder_string(out, "bar.sync 0;\n");
        return;
    }
    if (s->kind == HAND_OVER) {
        base_builder_format(out,
                            "setp.ne.u32 %%p4, %%r10, %u;\n@%%p4 bra not%u;\nbar.arrive %u, 64;\nnot%u:\n",
                            s->lanes[1] == 1, number, s->barrier, number);
        base_builder_format(out,
                            "setp.ne.u32 %%p4, %%r10, %u;\n@%%p4 bra after%u;\nbar.sync %u, 64;\nafter%u:\n",
                            s->lanes[1] == 2, number, s->barrier, number);
        return;
    }
    write_guard(out, s, number);
    base_builder_format(out,
                        "mad.lo.u32 %%r5, %%r11, %u, %u;\nrem.u32 %%r5, %%r5, %u;\nshl.b32 %%r5, %%r5, 2;\n"
                        "add.u32 %%r5, %%r5, %%r12;\n",
                        s->spread, s->word, (uint32_t)WORDS);
    base_builder_format(out, "add.u32 %%r6, %%r93, %u;\n", number * 1000 + 1);
    switch (s->kind) {
    case STORE:
        base_builder_string(out, "st.shared.u32 [%r5], %r6;\n");
        break;
    case LOAD:
        base_builder_string(out, "ld.shared.u32 %r7, [%r5];\nadd.u32 %r8, %r8, %r7;\n");
        break;
    case ATOMIC:
        base_builder_string(out, "red.shared.add.u32 [%r5], %r6;\n");
        break;
    case PAIR:
        base_builder_string(out, "bar.sync 1, 64;\n");
        break;
    case MEET:
        base_builder_string(
            out, "selp.u32 %r4, %r1, %r2, %p1;\nselp.u32 %r4, %r3, %r4, %p2;\nbar.warp.sync %r4;\n");
        break;
    case ARRIVE:
        base_builder_format(out, "mbarrier.arrive.shared.b64 _, [bars+%u];\n", 8 * s->barrier);
        break;
    case WAIT:
        base_builder_format(
            out, "loop%u:\nmbarrier.try_wait.parity.shared.b64 %%p4, [bars+%u], 0;\n@!%%p4 bra loop%u;\n",
            number, 8 * s->barrier, number);
        break;
    case RELEASE:
        base_builder_format(out, "mov.u32 %%r7, 1;\nst.release.cta.shared.u32 [flags+%u], %%r7;\n",
                            4 * s->barrier);
        break;
    default:
        base_builder_format(
            out,
            "loop%u:\nld.acquire.cta.shared.u32 %%r7, [flags+%u];\nsetp.eq.u32 %%p4, %%r7, 0;\n"
            "@%%p4 bra loop%u;\n",
            number, 4 * s->barrier, number);
    }
    base_builder_format(out, "after%u:\n", number);
}

static const char *write_program(base_arena *arena, model *m) {
    base_builder out;
    base_builder_start(&out, arena);
    base_builder_string(
        &out, "shr.u32 %r10, %r93, 5;\nand.b32 %r11, %r93, 31;\nmov.u32 %r12, words;\nmov.u32 %r8, 0;\n"
              "setp.eq.u32 %p1, %r10, 0;\nsetp.eq.u32 %p2, %r10, 2;\nsetp.ne.u32 %p5, %r93, 0;\n"
              "@%p5 bra started;\n");
    for (uint32_t b = 0; b < BARRIERS; b++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < m->count; i++)
            for (uint32_t w = 0; m->steps[i].kind == ARRIVE && m->steps[i].barrier == b && w < WARPS; w++)
                count += (uint32_t)__builtin_popcount(m->steps[i].lanes[w]);
        base_builder_format(&out, "mbarrier.init.shared.b64 [bars+%u], %u;\nst.shared.u32 [flags+%u], 0;\n",
                            8 * b, count ? count : 1, 4 * b);
    }
    for (uint32_t w = 0; w < WORDS; w++)
        base_builder_format(&out, "st.shared.u32 [words+%u], 0;\n", 4 * w);
    base_builder_string(&out, "started:\nbar.sync 0;\n");
    for (uint32_t i = 0; i < m->count; i++)
        write_step(&out, &m->steps[i], i);
    base_builder_string(&out, "add.s64 %rd70, %rd90, %rd80;\nst.global.u32 [%rd70], %r8;\n");
    return vm_case_kernel(
        arena, 1,
        ".shared .align 4 .b32 words[8];\n.shared .align 8 .b64 bars[4];\n.shared .align 4 .b32 "
        "flags[4];\n",
        out.data);
}

/* The step of an instruction: the label behind it says. */
static uint32_t step_of(const ptx_function *function, const ptx_instruction *instruction) {
    size_t index = (size_t)(instruction - function->instructions.items);
    uint32_t best = UINT32_MAX;
    size_t nearest = SIZE_MAX;
    for (size_t i = 0; i < function->labels.count; i++) {
        const ptx_label *label = function->labels.items[i];
        if (strncmp(label->name, "after", 5) == 0 && label->target > index && label->target < nearest) {
            nearest = label->target;
            best = (uint32_t)strtoul(label->name + 5, NULL, 10);
        }
    }
    return best;
}

static const struct {
    vm_schedule schedule;
    uint64_t seed;
} schedules[] = {{VM_SCHEDULE_EARLY, 0}, {VM_SCHEDULE_LATE, 0}, {VM_SCHEDULE_RANDOM, 5}};

/* The program goes first: the message has room for a line. */
#define REFUSE(...)                                                                                          \
    do {                                                                                                     \
        fputs(text, stderr);                                                                                 \
        fail_msg(__VA_ARGS__);                                                                               \
    } while (0)

static void judge(const model *m, const vm_result *result, const char *text) {
    bool found[STEPS][STEPS] = {{false}};
    if (result->status != VM_COMPLETE)
        REFUSE("status %d, %zu findings", result->status, result->finding_count);
    for (size_t i = 0; i < result->finding_count; i++) {
        const vm_finding *f = &result->findings[i];
        if (f->kind != VM_FIND_RACE_READ_WRITE && f->kind != VM_FIND_RACE_WRITE_WRITE &&
            f->kind != VM_FIND_RACE_LANES)
            REFUSE("%s", vm_finding_kind_name(f->kind));
        uint32_t a = step_of(f->function, f->instruction);
        uint32_t b = f->other ? step_of(f->function, f->other) : a;
        uint32_t low = a < b ? a : b, high = a < b ? b : a;
        if (high >= m->count || !m->racy[low][high])
            REFUSE("steps %u and %u are no race, %s: thread %u and thread %u", a, b,
                   vm_finding_kind_name(f->kind), f->thread[0], f->other_thread[0]);
        found[low][high] = true;
    }
    for (uint32_t w = 0; w < WORDS; w++) {
        bool racy = false, seen = false;
        for (uint32_t a = 0; a < m->count; a++)
            for (uint32_t b = a; b < m->count; b++)
                if (m->racy_word[w][a][b]) {
                    racy = true;
                    seen |= found[a][b];
                }
        if (racy && !seen)
            REFUSE("the race on word %u is not found", w);
    }
}

static void random_programs(void **state) {
    model *m = base_arena_allocate(*state, sizeof *m);
    uint32_t racy = 0;
    for (uint32_t program = 0; program < PROGRAMS; program++) {
        base_arena *arena = base_arena_create(base_arena_heap(*state));
        seed = program + 1;
        draw_program(m, program % 2);
        model_run(m);
        for (uint32_t a = 0, any = 0; a < m->count * m->count && !any; a++)
            racy += any = m->racy[a / m->count][a % m->count];
        const char *text = write_program(arena, m);
        for (size_t s = 0; s < sizeof schedules / sizeof schedules[0]; s++) {
            vm_case *c = vm_case_load_checked(arena, text);
            vm_case_buffer(c, "out", THREADS * 4);
            c->launch.schedule = schedules[s].schedule;
            c->launch.seed = schedules[s].seed;
            judge(m, vm_case_run(c, 1, THREADS), text);
        }
        base_arena_destroy(arena);
    }
    /* both sorts of programs are there */
    assert_in_range(racy, PROGRAMS / 10, PROGRAMS - PROGRAMS / 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {UNIT_WITH_ARENA(random_programs)};
    return cmocka_run_group_tests_name("vm race", tests, NULL, NULL);
}
