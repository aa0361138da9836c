#include "layer/shader/pipeline_state_document.h"

#include "profile/fossilize.h"
#include <float.h>
#include <math.h>
#include <stdio.h>

/* JSON has no infinities, and where a float is none the nearest number does. */
void pm_state_number(cJSON *json, const char *name, double number)
{
    cJSON_AddNumberToObject(json, name,
                            isnan(number)   ? 0
                            : isinf(number) ? copysign((double)FLT_MAX, number)
                                            : number);
}

cJSON *pm_state_reference_text(uint64_t hash)
{
    char text[PM_FOSSILIZE_HASH_TEXT];
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    return cJSON_CreateString(text);
}

void pm_state_reference(cJSON *json, const char *name, uint64_t hash)
{
    cJSON_AddItemToObject(json, name, pm_state_reference_text(hash));
}

cJSON *pm_state_element(cJSON *list)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddItemToArray(list, json);
    return json;
}

void pm_state_fail(struct pm_state *state)
{
    if (state->ok)
        pm_fail(state->error, PM_ERROR_MEMORY, "no memory for a pipeline's state");
    state->ok = false;
}

uint64_t pm_state_add(struct pm_state *state, const char *section, cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json), name[PM_FOSSILIZE_HASH_TEXT];
    cJSON *objects = cJSON_GetObjectItemCaseSensitive(state->document, section);
    const uint64_t hash = text ? pm_fossilize_hash_text(text) : 0;
    snprintf(name, sizeof name, "%016" PRIx64, hash);
    if (!text || !objects)
        pm_state_fail(state);
    if (!text || !objects || cJSON_GetObjectItemCaseSensitive(objects, name))
        cJSON_Delete(json);
    else
        cJSON_AddItemToObject(objects, name, json);
    cJSON_free(text);
    return hash;
}
