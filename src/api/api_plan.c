/* SPDX-License-Identifier: Apache-2.0
 * The launch plan as text and as JSON: grid, block, cluster, attributes, parameters, the map of shared memory
 * with what is in use when, and the target's limits. */
#include "api/api_private.h"
#include "view/view_memory.h"
#include <inttypes.h>
#include <string.h>

static void dimension_words(const ir_expr *const *dims, base_builder *out) {
    for (int i = 0; i < 3; ++i) {
        base_builder_string(out, i ? ", " : "(");
        ir_expr_print(dims[i], out);
    }
    base_builder_char(out, ')');
}

static void parameter_words(const ir_function *function, base_builder *out) {
    for (size_t i = 0; i < function->parameters.count; ++i) {
        const ir_parameter *parameter = &function->parameters.items[i];
        base_builder_format(out, "  parameter %zu  %-12s ", i, parameter->name);
        if (!parameter->tensor) {
            ir_type_print(parameter->var->type, out);
            base_builder_char(out, '\n');
            continue;
        }
        const ir_tensor_type *type = &parameter->tensor->type;
        base_builder_format(out, "%s (", num_dtype_name(type->dtype));
        for (uint32_t d = 0; d < type->rank; ++d) {
            if (d)
                base_builder_string(out, ", ");
            ir_expr_print(type->shape[d], out);
        }
        base_builder_format(out, ") align %u", type->align);
        if (type->layout) {
            base_builder_string(out, " layout ");
            layout_print(type->layout, out);
        }
        for (uint32_t d = 0; type->strides && d < type->rank; ++d) {
            base_builder_string(out, d ? ", " : " strides (");
            ir_expr_print(type->strides[d], out);
        }
        if (type->strides)
            base_builder_char(out, ')');
        if (type->origin) {
            base_builder_string(out, " origin ");
            ir_expr_print(type->origin, out);
        }
        base_builder_char(out, '\n');
    }
}

/* Lines of a first and a last use; nothing when a tensor is never touched. */
static void use_words(const tirc_session *session, const lower_use *use, base_builder *out) {
    if (!use->used) {
        base_builder_string(out, "  never used");
        return;
    }
    uint32_t first = base_span_place(session->sources, use->first_span).line,
             last = base_span_place(session->sources, use->last_span).line;
    if (first == last)
        base_builder_format(out, "  used in line %u", first);
    else
        base_builder_format(out, "  used in lines %u to %u", first < last ? first : last,
                            first < last ? last : first);
}

static const lower_part *next_shared(const lower_plan *plan, size_t part, bool live, size_t *at) {
    const lower_part *p = &plan->parts.items[part];
    for (; *at < plan->parts.count; ++*at) {
        const lower_part *other = &plan->parts.items[*at];
        if (*at != part && lower_parts_meet(p, other) && lower_uses_meet(&p->use, &other->use) == live)
            return &plan->parts.items[(*at)++];
    }
    return NULL;
}

/* Bytes before a part that belong to no other part: what its alignment skips, or a gap. */
static uint64_t part_padding(const lower_plan *plan, const lower_part *part) {
    uint64_t end = 0;
    for (size_t k = 0; part->known && k < plan->parts.count; ++k) {
        const lower_part *other = &plan->parts.items[k];
        uint64_t other_end = other->offset + other->bytes;
        if (other == part || other->root != part->root || !other->known || other->offset >= part->offset)
            continue;
        if (other_end >= part->offset)
            return 0;
        end = other_end > end ? other_end : end;
    }
    return part->known ? part->offset - end : 0;
}

static void part_words(const tirc_session *session, const lower_plan *plan, size_t index, uint64_t root,
                       base_builder *out) {
    static const char *const shares[] = {"reuses bytes of", "shares bytes, both in use, with"};
    const lower_part *part = &plan->parts.items[index];
    if (part->known)
        base_builder_format(out,
                            "      part  offset %6" PRIu64 "  %8" PRIu64 " bytes  align %4" PRIu32 "  %s",
                            root + part->offset, part->bytes, part->tensor->type.align, part->name);
    else
        base_builder_format(out, "      part  offset known at run time  %s", part->name);
    use_words(session, &part->use, out);
    for (int live = 0; live < 2; ++live) {
        size_t at = 0;
        bool first = true;
        for (const lower_part *other; (other = next_shared(plan, index, live, &at)); first = false)
            base_builder_format(out, "%s%s %s", first ? "; " : ",", first ? shares[live] : "", other->name);
    }
    uint64_t padding = part_padding(plan, part);
    if (padding)
        base_builder_format(out, ", %" PRIu64 " bytes of padding before it", padding);
    base_builder_char(out, '\n');
}

static void shared_row(const tirc_session *session, const lower_plan *plan, size_t index, base_builder *out) {
    const lower_shared *shared = &plan->shared.items[index];
    base_builder_format(out, "    %-7s offset %6" PRIu64 "  %8" PRIu64 " bytes  align %4" PRIu64 "  %s",
                        shared->dynamic ? "dynamic" : "static", shared->offset, shared->bytes, shared->align,
                        shared->name);
    bool parts = false;
    for (size_t k = 0; k < plan->parts.count; ++k)
        parts = parts || plan->parts.items[k].root == shared->tensor;
    if (shared->use.used || !parts)
        use_words(session, &shared->use, out);
    if (shared->padding)
        base_builder_format(out, ", %" PRIu64 " bytes of padding before it", shared->padding);
    base_builder_char(out, '\n');
    for (size_t k = 0; k < plan->parts.count; ++k)
        if (plan->parts.items[k].root == shared->tensor)
            part_words(session, plan, k, shared->offset, out);
}

static void shared_words(const tirc_session *session, const lower_plan *plan, const lower_device *device,
                         base_builder *out) {
    base_builder_format(out, "  shared memory  static %" PRIu64 " bytes, dynamic %" PRIu64 " bytes",
                        plan->static_smem_bytes, plan->dynamic_smem_bytes);
    if (device)
        base_builder_format(out, "; %s gives a CTA %u%s", device->name, device->shared_per_cta,
                            lower_plan_opt_in(plan) ? ", and the launch opts in" : "");
    base_builder_char(out, '\n');
    for (size_t i = 0; i < plan->shared.count; ++i)
        shared_row(session, plan, i, out);
}

static void attribute_words(const ir_launch *launch, base_builder *out) {
    if (launch->min_blocks_per_sm)
        base_builder_format(out, "  at least %" PRId64 " blocks per SM\n", launch->min_blocks_per_sm);
    if (launch->max_blocks_per_cluster)
        base_builder_format(out, "  at most %" PRId64 " blocks per cluster\n",
                            launch->max_blocks_per_cluster);
    if (launch->max_registers)
        base_builder_format(out, "  at most %" PRId64 " registers per thread\n", launch->max_registers);
    if (launch->cooperative)
        base_builder_string(out, "  cooperative launch: all CTAs are resident at once\n");
    if (launch->programmatic)
        base_builder_string(out, "  programmatic launch: may start before the one before it has ended\n");
    if (launch->has_priority)
        base_builder_format(out, "  priority %" PRId32 "\n", launch->priority);
    if (launch->has_carveout)
        base_builder_format(out, "  preferred carve-out: %" PRId32 " percent of the SM's memory is shared\n",
                            launch->carveout);
    if (launch->cluster_policy)
        base_builder_format(out, "  cluster scheduling policy %s\n",
                            ir_cluster_policy_name(launch->cluster_policy));
    if (launch->cluster_size)
        base_builder_format(out, "  cluster size %s\n", ir_cluster_size_name(launch->cluster_size));
    if (launch->preferred[0])
        base_builder_format(
            out, "  preferred cluster (%" PRId32 ", %" PRId32 ", %" PRId32 ") where there is room\n",
            launch->preferred[0], launch->preferred[1], launch->preferred[2]);
    if (launch->sync_domain)
        base_builder_format(out, "  memory synchronisation domain %s\n",
                            ir_sync_domain_name(launch->sync_domain));
    if (launch->has_domain_map)
        base_builder_format(out, "  domains: default is %" PRId32 ", remote is %" PRId32 "\n",
                            launch->domain_map[0], launch->domain_map[1]);
}

void api_plan_text(const tirc_session *session, const lower_plan *plan, const char *target,
                   base_builder *out) {
    const ir_launch *launch = &plan->function->launch;
    const lower_device *device = lower_device_find(target ? target : "sm_90a");
    base_builder_format(out, "kernel %s\n", plan->kernel_name);
    if (launch->present) {
        base_builder_string(out, "  grid   ");
        dimension_words(launch->grid, out);
        base_builder_string(out, "\n  block  ");
        dimension_words(launch->block, out);
        base_builder_char(out, '\n');
        if (launch->cluster[0]) {
            base_builder_string(out, "  cluster ");
            dimension_words(launch->cluster, out);
            if (device && lower_plan_non_portable(plan, device))
                base_builder_string(out, "  a non-portable size: the launch allows it");
            base_builder_char(out, '\n');
        }
        attribute_words(launch, out);
    } else {
        base_builder_string(out, "  no device entry: --grid and --block say how to launch it\n");
    }
    parameter_words(plan->function, out);
    shared_words(session, plan, device, out);
    for (size_t i = 0; i < plan->locals.count; ++i)
        base_builder_format(out, "  local %-12s %s: %s\n", plan->locals.items[i].name,
                            plan->locals.items[i].in_registers ? "registers" : ".local memory",
                            plan->locals.items[i].reason);
}

static void json_string(base_builder *out, const char *text) {
    base_builder_char(out, '"');
    base_builder_json(out, text, strlen(text));
    base_builder_char(out, '"');
}

/* An integer where it is constant, else the expression as a string. */
static void json_expression(base_arena *arena, const ir_expr *e, base_builder *out) {
    int64_t value;
    if (ir_is_int(e, &value)) {
        base_builder_format(out, "%" PRId64, value);
        return;
    }
    base_builder text;
    base_builder_start(&text, arena);
    ir_expr_print(e, &text);
    json_string(out, text.data);
}

static void json_dimensions(base_arena *arena, const char *key, const ir_expr *const *dims,
                            base_builder *out) {
    base_builder_format(out, ",\"%s\":[", key);
    for (int i = 0; i < 3; ++i) {
        if (i)
            base_builder_char(out, ',');
        json_expression(arena, dims[i], out);
    }
    base_builder_char(out, ']');
}

static void json_parameters(base_arena *arena, const ir_function *function, base_builder *out) {
    base_builder_string(out, ",\"parameters\":[");
    for (size_t i = 0; i < function->parameters.count; ++i) {
        const ir_parameter *parameter = &function->parameters.items[i];
        base_builder_string(out, i ? ",{\"name\":" : "{\"name\":");
        json_string(out, parameter->name);
        if (parameter->tensor) {
            const ir_tensor_type *type = &parameter->tensor->type;
            base_builder_format(out, ",\"dtype\":\"%s\",\"align\":%u,\"shape\":[",
                                num_dtype_name(type->dtype), type->align);
            for (uint32_t d = 0; d < type->rank; ++d) {
                if (d)
                    base_builder_char(out, ',');
                json_expression(arena, type->shape[d], out);
            }
            base_builder_char(out, ']');
            for (uint32_t d = 0; type->strides && d < type->rank; ++d) {
                base_builder_string(out, d ? "," : ",\"strides\":[");
                json_expression(arena, type->strides[d], out);
            }
            if (type->strides)
                base_builder_char(out, ']');
            if (type->origin) {
                base_builder_string(out, ",\"origin\":");
                json_expression(arena, type->origin, out);
            }
        } else {
            base_builder_string(out, ",\"dtype\":\"");
            ir_type_print(parameter->var->type, out);
            base_builder_char(out, '"');
        }
        base_builder_char(out, '}');
    }
    base_builder_char(out, ']');
}

static void json_use(const tirc_session *session, const lower_use *use, base_builder *out) {
    if (use->used)
        base_builder_format(out, ",\"first_line\":%u,\"last_line\":%u",
                            base_span_place(session->sources, use->first_span).line,
                            base_span_place(session->sources, use->last_span).line);
}

static void json_part(const tirc_session *session, const lower_plan *plan, size_t index, uint64_t root,
                      base_builder *out) {
    static const char *const keys[] = {"reuses", "in_use_with"};
    const lower_part *part = &plan->parts.items[index];
    base_builder_string(out, "{\"name\":");
    json_string(out, part->name);
    if (part->known)
        base_builder_format(
            out, ",\"offset\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"align\":%" PRIu32 ",\"padding\":%" PRIu64,
            root + part->offset, part->bytes, part->tensor->type.align, part_padding(plan, part));
    json_use(session, &part->use, out);
    for (int live = 0; live < 2; ++live) {
        size_t at = 0, count = 0;
        for (const lower_part *other; (other = next_shared(plan, index, live, &at)); ++count) {
            if (count)
                base_builder_char(out, ',');
            else
                base_builder_format(out, ",\"%s\":[", keys[live]);
            json_string(out, other->name);
        }
        base_builder_string(out, count ? "]" : "");
    }
    base_builder_char(out, '}');
}

static void json_shared(const tirc_session *session, const lower_plan *plan, base_builder *out) {
    base_builder_string(out, ",\"shared\":[");
    for (size_t i = 0; i < plan->shared.count; ++i) {
        const lower_shared *shared = &plan->shared.items[i];
        base_builder_string(out, i ? ",{\"name\":" : "{\"name\":");
        json_string(out, shared->name);
        base_builder_format(out,
                            ",\"dynamic\":%s,\"offset\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"align\":%" PRIu64
                            ",\"padding\":%" PRIu64,
                            shared->dynamic ? "true" : "false", shared->offset, shared->bytes, shared->align,
                            shared->padding);
        json_use(session, &shared->use, out);
        base_builder_string(out, ",\"parts\":[");
        bool first = true;
        for (size_t k = 0; k < plan->parts.count; ++k)
            if (plan->parts.items[k].root == shared->tensor) {
                base_builder_string(out, first ? "" : ",");
                json_part(session, plan, k, shared->offset, out);
                first = false;
            }
        base_builder_string(out, "]}");
    }
    base_builder_char(out, ']');
}

static void json_limits(const lower_plan *plan, const lower_device *device, base_builder *out) {
    if (!device)
        return;
    base_builder_format(
        out,
        ",\"device\":{\"name\":\"%s\",\"shared_per_cta\":%u,\"shared_static\":%d,"
        "\"shared_per_sm\":%u,\"reserved_per_cta\":%u,\"threads_per_sm\":%u,\"ctas_per_sm\":%u,"
        "\"cluster\":%u,\"cluster_non_portable\":%u}",
        device->name, device->shared_per_cta, LOWER_STATIC_SHARED_LIMIT, device->shared_per_sm,
        device->reserved_per_cta, device->threads_per_sm, device->ctas_per_sm, device->cluster_portable,
        device->cluster_limit);
    if (plan->function->launch.cluster[0])
        base_builder_format(out, ",\"non_portable_cluster\":%s",
                            lower_plan_non_portable(plan, device) ? "true" : "false");
}

void api_plan_json(const tirc_session *session, const lower_plan *plan, const char *target,
                   base_builder *out) {
    const ir_launch *launch = &plan->function->launch;
    base_arena *arena = session->arena;
    base_builder_string(out, "{\"kernel\":");
    json_string(out, plan->kernel_name);
    if (launch->present) {
        json_dimensions(arena, "grid", launch->grid, out);
        json_dimensions(arena, "block", launch->block, out);
        if (launch->cluster[0])
            json_dimensions(arena, "cluster", launch->cluster, out);
        if (launch->min_blocks_per_sm)
            base_builder_format(out, ",\"min_blocks_per_sm\":%" PRId64, launch->min_blocks_per_sm);
        if (launch->max_blocks_per_cluster)
            base_builder_format(out, ",\"max_blocks_per_cluster\":%" PRId64, launch->max_blocks_per_cluster);
        if (launch->max_registers)
            base_builder_format(out, ",\"max_registers\":%" PRId64, launch->max_registers);
        base_builder_format(out, ",\"cooperative\":%s,\"programmatic\":%s",
                            launch->cooperative ? "true" : "false", launch->programmatic ? "true" : "false");
        if (launch->has_priority)
            base_builder_format(out, ",\"priority\":%" PRId32, launch->priority);
        if (launch->has_carveout)
            base_builder_format(out, ",\"carveout\":%" PRId32, launch->carveout);
        if (launch->cluster_policy)
            base_builder_format(out, ",\"cluster_policy\":\"%s\"",
                                ir_cluster_policy_name(launch->cluster_policy));
        if (launch->cluster_size)
            base_builder_format(out, ",\"cluster_size\":\"%s\"", ir_cluster_size_name(launch->cluster_size));
        if (launch->preferred[0])
            base_builder_format(out, ",\"preferred_cluster\":[%" PRId32 ",%" PRId32 ",%" PRId32 "]",
                                launch->preferred[0], launch->preferred[1], launch->preferred[2]);
        if (launch->sync_domain)
            base_builder_format(out, ",\"sync_domain\":\"%s\"", ir_sync_domain_name(launch->sync_domain));
        if (launch->has_domain_map)
            base_builder_format(out, ",\"sync_domain_map\":[%" PRId32 ",%" PRId32 "]", launch->domain_map[0],
                                launch->domain_map[1]);
    }
    json_parameters(arena, plan->function, out);
    base_builder_format(
        out, ",\"static_smem_bytes\":%" PRIu64 ",\"dynamic_smem_bytes\":%" PRIu64 ",\"opt_in\":%s",
        plan->static_smem_bytes, plan->dynamic_smem_bytes, lower_plan_opt_in(plan) ? "true" : "false");
    json_limits(plan, lower_device_find(target ? target : "sm_90a"), out);
    json_shared(session, plan, out);
    base_builder_string(out, ",\"locals\":[");
    for (size_t i = 0; i < plan->locals.count; ++i) {
        base_builder_string(out, i ? ",{\"name\":" : "{\"name\":");
        json_string(out, plan->locals.items[i].name);
        base_builder_format(
            out, ",\"in_registers\":%s,\"reason\":", plan->locals.items[i].in_registers ? "true" : "false");
        json_string(out, plan->locals.items[i].reason);
        base_builder_char(out, '}');
    }
    base_builder_string(out, "]}\n");
}

/* ---- the picture ---- */
typedef BASE_VECTOR(view_memory_box) box_list;
typedef BASE_VECTOR(view_memory) map_list;

static void add_box(const tirc_session *session, const lower_use *use, view_memory_box box, box_list *boxes) {
    if (use->used) {
        uint32_t first = base_span_place(session->sources, use->first_span).line,
                 last = base_span_place(session->sources, use->last_span).line;
        box.first = first < last ? first : last;
        box.last = first < last ? last : first;
    }
    base_vector_push(session->arena, boxes, box);
}

static void add_map(const tirc_session *session, const lower_plan *plan, const lower_device *device,
                    bool dynamic, bool named, map_list *maps) {
    base_arena *arena = session->arena;
    uint64_t total = dynamic ? plan->dynamic_smem_bytes : plan->static_smem_bytes;
    box_list boxes = {0};
    if (total == 0)
        return;
    for (size_t i = 0; i < plan->shared.count; ++i) {
        const lower_shared *shared = &plan->shared.items[i];
        if (shared->dynamic != dynamic)
            continue;
        view_memory_box whole = {.name = shared->name, .offset = shared->offset, .bytes = shared->bytes};
        add_box(session, &shared->use, whole, &boxes);
        for (size_t k = 0; k < plan->parts.count; ++k) {
            const lower_part *part = &plan->parts.items[k];
            size_t at = 0;
            if (part->root != shared->tensor || !part->known)
                continue;
            view_memory_box box = {.name = part->name,
                                   .offset = shared->offset + part->offset,
                                   .bytes = part->bytes,
                                   .part = true,
                                   .shared = next_shared(plan, k, true, &at) != NULL};
            add_box(session, &part->use, box, &boxes);
        }
    }
    const char *title =
        base_arena_format(arena, "%s%s%s shared memory, %" PRIu64 " bytes", named ? plan->kernel_name : "",
                          named ? ": " : "", dynamic ? "dynamic" : "static", total);
    if (device) {
        uint64_t together = plan->static_smem_bytes + plan->dynamic_smem_bytes;
        title = base_arena_format(arena, "%s%s; %s gives a CTA %u", title,
                                  together != total ? base_arena_format(arena, " of %" PRIu64, together) : "",
                                  device->name, device->shared_per_cta);
    }
    view_memory map = {.title = title, .boxes = boxes.items, .count = boxes.count, .total = total};
    base_vector_push(arena, maps, map);
}

void api_plan_svg(const tirc_session *session, const lower_result *lowered, const char *target,
                  base_builder *out) {
    map_list maps = {0};
    const lower_device *device = lower_device_find(target ? target : "sm_90a");
    size_t kernels = lowered->plans.count;
    for (size_t i = 0; i < kernels; ++i)
        for (int dynamic = 0; dynamic < 2; ++dynamic)
            add_map(session, lowered->plans.items[i], device, dynamic != 0, kernels > 1, &maps);
    const char *title = kernels == 1 ? lowered->plans.items[0]->kernel_name
                                     : base_arena_format(session->arena, "%zu kernels", kernels);
    view_memory_svg(session->arena,
                    maps.count ? title : base_arena_format(session->arena, "%s: no shared memory", title),
                    maps.items, maps.count, out);
}

typedef struct memory_call {
    const tirc_report *report;
    base_builder out;
    tirc_status status;
} memory_call;

static void memory_body(void *argument) {
    memory_call *call = argument;
    const lower_plan *plan = call->report->plan;
    base_builder_start(&call->out, call->report->session->arena);
    const char *target = call->report->ptx ? call->report->ptx->target : "sm_90a"; /* what the code needs */
    if (plan && plan->shared.count)
        shared_words(call->report->session, plan, lower_device_find(target), &call->out);
    call->status = TIRC_OK;
}

tirc_status tirc_report_memory(const tirc_report *report, tirc_sink sink, void *user) {
    if (!report || !sink)
        return TIRC_USAGE;
    memory_call call = {.report = report};
    tirc_status status = api_protect(report->session->heap, memory_body, &call, &call.status);
    if (status == TIRC_OK && call.out.size && !sink(user, call.out.data, call.out.size))
        return TIRC_ERROR;
    return status;
}
