/* SPDX-License-Identifier: Apache-2.0
 * Names while a function is printed (ir_naming.h). Knows nothing of statements. */
#include "ir/ir_naming.h"
#include <string.h>

ir_naming *ir_naming_create(base_arena *arena) {
    ir_naming *naming = BASE_NEW(arena, ir_naming);
    naming->arena = arena;
    naming->names = base_names_create(arena);
    naming->words = base_map_create(arena);
    naming->entries = base_map_create(arena);
    naming->detached_by_key = base_map_create(arena);
    return naming;
}

static ir_name_word *word_of(ir_naming *naming, const char *text) {
    const char *name = base_name_of(naming->names, text);
    ir_name_word *word = base_map_get(naming->words, BASE_KEY(name));
    if (!word) {
        word = BASE_NEW(naming->arena, ir_name_word);
        word->text = name;
        word->next = 1;
        base_map_set(naming->words, BASE_KEY(name), word);
    }
    return word;
}

const char *ir_naming_declare(ir_naming *naming, const void *key, const char *author) {
    base_builder clean;
    base_builder_start(&clean, naming->arena);
    ir_print_identifier(&clean, author);
    ir_name_word *word = word_of(naming, clean.data), *first = word;
    while (word->live || ir_word_reserved(word->text, strlen(word->text)))
        word = word_of(naming, base_arena_format(naming->arena, "%s_%u", clean.data, first->next++));
    ir_name_entry *entry = BASE_NEW(naming->arena, ir_name_entry);
    entry->word = word;
    entry->live = true;
    word->live++;
    base_map_set(naming->entries, BASE_KEY(key), entry);
    base_vector_push(naming->arena, &naming->open, entry);
    return word->text;
}

void ir_naming_close(ir_naming *naming, size_t mark) {
    while (naming->open.count > mark) {
        ir_name_entry *entry = naming->open.items[--naming->open.count];
        entry->live = false;
        entry->word->live--;
    }
}

const char *ir_printer_name(ir_printer *printer, const ir_var *var, const ir_tensor *tensor) {
    ir_naming *naming = printer->naming;
    const void *key = var ? (const void *)var : tensor;
    const ir_name_entry *entry = base_map_get(naming->entries, BASE_KEY(key));
    if (entry && entry->live)
        return entry->word->text;
    ir_detached *detached = base_map_get(naming->detached_by_key, BASE_KEY(key));
    if (!detached) {
        detached = BASE_NEW(naming->arena, ir_detached);
        detached->var = var;
        detached->tensor = tensor;
        base_map_set(naming->detached_by_key, BASE_KEY(key), detached);
        base_vector_push(naming->arena, &naming->detached, detached);
    }
    return detached->name ? detached->name : "?";
}
