/*
 * A document of pipeline_state.h under construction: its objects, and how they name each other.
 *
 * Thread safety: one thread for a document.
 */
#pragma once

#include "base/error.h"
#include "shader_rewrite/ir/words.h"
#include <cjson/cJSON.h>

/* Is shown each stage's module, and its hash; false ends it. */
typedef bool (*pm_state_module_visitor)(void *user, uint64_t hash, const struct pm_words *words,
                                        struct pm_error *error);

struct pm_state {
    cJSON *document;
    cJSON *left_out; /* types of structures that no reader could be told */
    pm_state_module_visitor visit;
    void *user;
    struct pm_error *error; /* the first one */
    bool ok;
};

void pm_state_number(cJSON *json, const char *name, double number);
#define PM_STATE_PUT(json, from, member) pm_state_number(json, #member, (double)(from)->member)

/* A reference to an object, by its hash; 0: none. */
void pm_state_reference(cJSON *json, const char *name, uint64_t hash);
cJSON *pm_state_reference_text(uint64_t hash);
/* A new object at a list's end. */
cJSON *pm_state_element(cJSON *list);

/* Adds an object, which becomes the document's or goes, to a section, unless an equal one is there.
 * Its hash. */
uint64_t pm_state_add(struct pm_state *state, const char *section, cJSON *json);

/* Out of memory: no document comes of it. */
void pm_state_fail(struct pm_state *state);
