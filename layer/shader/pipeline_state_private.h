/*
 * What the files pipeline_state*.c share. See pipeline_state.h.
 *
 * Thread safety: one thread for a document.
 */
#pragma once

#include "layer/shader/object_private.h"
#include "layer/shader/pipeline_state.h"

/* A document under construction. */
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

/* The chain of pNext, as the member "pNext" where there is anything in it. conversion: what a
 * sampler's VkSamplerYcbcrConversionInfo stands for; NULL: nothing. */
void pm_state_chain(struct pm_state *state, cJSON *json, const void *chain,
                    const struct pm_object *conversion);

/* A sampler, set layout, pipeline layout or render pass and all that it is made of; its hash. NULL:
 * 0. */
uint64_t pm_state_object(struct pm_state *state, const struct pm_object *object);
