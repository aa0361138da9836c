#include "base/config_keys.h"
#include "base/name.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include <errno.h>
#include <float.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const float_zero_names[] = {[PM_FLOAT_ZERO_SHADER] = "shader",
                                               [PM_FLOAT_ZERO_NEVER] = "never",
                                               [PM_FLOAT_ZERO_ALLOW] = "allow",
                                               NULL};
static const char *const specialize_names[] = {[PM_SPECIALIZE_PROFILE] = "profile",
                                               [PM_SPECIALIZE_ALL] = "all",
                                               [PM_SPECIALIZE_CANONICAL] = "canonical",
                                               NULL};
static const char *const beyond_names[] = {
    [PM_BEYOND_NONE] = "none",   [PM_BEYOND_FIT] = "fit", [PM_BEYOND_HOIST] = "hoist",
    [PM_BEYOND_PAIRS] = "pairs", [PM_BEYOND_ALL] = "all", NULL};
static const char *const level_names[] = {[PM_LOG_ERROR] = "error",
                                          [PM_LOG_WARNING] = "warning",
                                          [PM_LOG_INFO] = "info",
                                          [PM_LOG_DEBUG] = "debug",
                                          NULL};
const char *const pm_config_kind_names[] = {"block", "zero", "timing", "constant", "turns", NULL};
const char *const pm_config_block_pass_names[] = {"flatten", "sink",   "version", "unroll",
                                                  "peel",    "layout", NULL};

_Static_assert(sizeof(enum pm_float_zero) == sizeof(uint32_t), "choices are stored as 32 bits");
_Static_assert(sizeof(enum pm_specialize) == sizeof(uint32_t), "choices are stored as 32 bits");
_Static_assert(sizeof(enum pm_log_level) == sizeof(uint32_t), "choices are stored as 32 bits");

#define AT(field) offsetof(struct pm_config, field)
const struct pm_config_entry pm_config_entries[] = {
    {"game.name", PM_CONFIG_GAME, AT(game_name), 0, 0, NULL},
    {"game.scene", PM_CONFIG_NAME, AT(game_scene), 0, 0, NULL},
    {"game.scene_labels", PM_CONFIG_STRING, AT(game_scene_labels), 0, 0, NULL},
    {"sampler.window_probability", PM_CONFIG_PROBABILITY, AT(sampler.window_probability), 0, 1,
     NULL},
    {"sampler.window_frames", PM_CONFIG_COUNT, AT(sampler.window_frames), 1, 1u << 24, NULL},
    {"sampler.api_probability", PM_CONFIG_PROBABILITY, AT(sampler.api_probability), 0, 1, NULL},
    {"sampler.batch", PM_CONFIG_BATCH, AT(sampler.batch), 1, 1u << 20, NULL},
    {"sampler.uniformity", PM_CONFIG_BOOLEAN, AT(sampler.uniformity), 0, 0, NULL},
    {"sampler.follow", PM_CONFIG_BOOLEAN, AT(sampler.follow), 0, 0, NULL},
    {"sampler.kinds", PM_CONFIG_LIST, AT(sampler.kinds), 0, 0, pm_config_kind_names},
    {"sampler.seed", PM_CONFIG_SEED, AT(sampler.seed), 0, 0, NULL},
    {"optimize.zero", PM_CONFIG_BOOLEAN, AT(optimize.zero), 0, 0, NULL},
    {"optimize.blocks", PM_CONFIG_BOOLEAN, AT(optimize.blocks), 0, 0, NULL},
    {"optimize.block_passes", PM_CONFIG_LIST, AT(optimize.block_passes), 0, 0,
     pm_config_block_pass_names},
    {"optimize.variants", PM_CONFIG_BOOLEAN, AT(optimize.variants), 0, 0, NULL},
    {"optimize.constants", PM_CONFIG_BOOLEAN, AT(optimize.constants), 0, 0, NULL},
    {"optimize.partition", PM_CONFIG_BOOLEAN, AT(optimize.partition), 0, 0, NULL},
    {"optimize.float_zero", PM_CONFIG_CHOICE, AT(optimize.float_zero), 0, 0, float_zero_names},
    {"optimize.withhold", PM_CONFIG_STRING, AT(optimize.withhold), 0, 0, NULL},
    {"optimize.agreeing_sessions", PM_CONFIG_COUNT, AT(optimize.agreeing_sessions), 1, 8, NULL},
    {"optimize.retry_share", PM_CONFIG_PROBABILITY, AT(optimize.retry_share), 0, 1, NULL},
    {"optimize.doubt_share", PM_CONFIG_PROBABILITY, AT(optimize.doubt_share), 0, 1, NULL},
    {"optimize.uniform_share", PM_CONFIG_PROBABILITY, AT(optimize.uniform_share), 0, 1, NULL},
    {"aggregator.url", PM_CONFIG_STRING, AT(aggregator.url), 0, 0, NULL},
    {"aggregator.token_file", PM_CONFIG_STRING, AT(aggregator.token_file), 0, 0, NULL},
    {"aggregator.ca_file", PM_CONFIG_STRING, AT(aggregator.ca_file), 0, 0, NULL},
    {"aggregator.verdict_key_file", PM_CONFIG_STRING, AT(aggregator.verdict_key_file), 0, 0, NULL},
    {"consent.upload", PM_CONFIG_CONSENT, AT(consent_withheld), 0, 0, NULL},
    {"limits.compile_threads", PM_CONFIG_COUNT, AT(limits.compile_threads), 1, 64, NULL},
    {"limits.counter_memory_mib", PM_CONFIG_COUNT, AT(limits.counter_memory_mib), 1, 4096, NULL},
    {"limits.scratch_mib", PM_CONFIG_COUNT, AT(limits.scratch_mib), 1, 4096, NULL},
    {"limits.spool_mib", PM_CONFIG_COUNT, AT(limits.spool_mib), 1, 1u << 20, NULL},
    {"limits.shader_store_mib", PM_CONFIG_COUNT, AT(limits.shader_store_mib), 0, 1u << 20, NULL},
    {"limits.pipeline_cache_mib", PM_CONFIG_COUNT, AT(limits.pipeline_cache_mib), 0, 4096, NULL},
    {"limits.variants", PM_CONFIG_COUNT, AT(limits.variants), 0, 1u << 20, NULL},
    {"limits.variants_per_minute", PM_CONFIG_COUNT, AT(limits.variants_per_minute), 0, 1u << 20,
     NULL},
    {"limits.creation_ms", PM_CONFIG_COUNT, AT(limits.creation_ms), 0, 1000, NULL},
    {"limits.loading_ms", PM_CONFIG_COUNT, AT(limits.loading_ms), 0, 10000, NULL},
    {"limits.proven_ms_per_pipeline", PM_CONFIG_COUNT, AT(limits.proven_ms_per_pipeline), 0, 1000,
     NULL},
    {"limits.proven_ms_per_second", PM_CONFIG_COUNT, AT(limits.proven_ms_per_second), 0, 1000,
     NULL},
    {"limits.synchronous_words", PM_CONFIG_COUNT, AT(limits.synchronous_words), 1, 1u << 30, NULL},
    {"limits.first_draw_words", PM_CONFIG_COUNT, AT(limits.first_draw_words), 0, 1u << 30, NULL},
    {"limits.predicates", PM_CONFIG_COUNT, AT(limits.predicates), 0, 1u << 20, NULL},
    {"limits.background_share", PM_CONFIG_PROBABILITY, AT(limits.background_share), 0.001, 1, NULL},
    {"limits.trial_share", PM_CONFIG_PROBABILITY, AT(limits.trial_share), 0.0001, 1, NULL},
    {"log.level", PM_CONFIG_CHOICE, AT(log.level), 0, 0, level_names},
    {"log.file", PM_CONFIG_STRING, AT(log.file), 0, 0, NULL},
    {"ab.frames", PM_CONFIG_COUNT, AT(ab.frames), 4, 1u << 20, NULL},
    {"ab.file", PM_CONFIG_STRING, AT(ab.file), 0, 0, NULL},
    {"trace.file", PM_CONFIG_STRING, AT(trace.file), 0, 0, NULL},
    {"debug.synchronous", PM_CONFIG_BOOLEAN, AT(debug.synchronous), 0, 0, NULL},
    {"debug.trust_variants", PM_CONFIG_BOOLEAN, AT(debug.trust_variants), 0, 0, NULL},
    {"debug.slow_variants", PM_CONFIG_BOOLEAN, AT(debug.slow_variants), 0, 0, NULL},
    {"debug.slow_guards", PM_CONFIG_BOOLEAN, AT(debug.slow_guards), 0, 0, NULL},
    {"debug.slow_from", PM_CONFIG_COUNT, AT(debug.slow_from), 0, 1u << 20, NULL},
    {"debug.specialize", PM_CONFIG_CHOICE, AT(debug.specialize), 0, 0, specialize_names},
    {"debug.beyond", PM_CONFIG_CHOICE, AT(debug.beyond), 0, 0, beyond_names},
    {"debug.recipe", PM_CONFIG_STRING, AT(debug.recipe), 0, 0, NULL},
    {"debug.partition_limits", PM_CONFIG_STRING, AT(debug.partition_limits), 0, 0, NULL},
    {"debug.variants_folder", PM_CONFIG_STRING, AT(debug.variants_folder), 0, 0, NULL},
    {"debug.checkpoint_heartbeats", PM_CONFIG_COUNT, AT(debug.checkpoint_heartbeats), 1, 1u << 20,
     NULL},
    {"debug.settle_seconds", PM_CONFIG_COUNT, AT(debug.settle_seconds), 0, 1u << 20, NULL},
    {NULL, PM_CONFIG_STRING, 0, 0, 0, NULL},
};
#undef AT

const struct pm_config_entry *pm_config_find(const char *key)
{
    for (const struct pm_config_entry *entry = pm_config_entries; entry->key; entry++) {
        if (strcmp(entry->key, key) == 0)
            return entry;
    }
    return NULL;
}

bool pm_config_has_section(const char *section)
{
    size_t length = strlen(section);
    for (const struct pm_config_entry *entry = pm_config_entries; entry->key; entry++) {
        if (strncmp(entry->key, section, length) == 0 && entry->key[length] == '.')
            return true;
    }
    return false;
}

const char *pm_config_nearest(const char *name, bool section, char *out, size_t size)
{
    const char *last = strrchr(name, '.');
    size_t best = SIZE_MAX;
    for (const struct pm_config_entry *entry = pm_config_entries; entry->key; entry++) {
        const char *dot = strchr(entry->key, '.');
        size_t length = section ? (size_t)(dot - entry->key) : strlen(entry->key);
        size_t d = pm_nearest_distance(name, entry->key, length);
        /* The right key in the wrong section is nearer than any other. */
        if (!section && last && strcmp(last, dot) == 0)
            d = 0;
        if (d < best) {
            best = d;
            snprintf(out, size, "%.*s", (int)length, entry->key);
        }
    }
    return best <= pm_nearest_most(name) ? out : NULL;
}

static void *field(struct pm_config *config, const struct pm_config_entry *entry)
{
    return (char *)config + entry->offset;
}

/* The whole text is digits, and the number fits. */
static bool whole(const struct pm_config_value *value, uint64_t *number)
{
    if (value->type != PM_VALUE_NUMBER || value->text[0] == '\0' ||
        strspn(value->text, "0123456789") != strlen(value->text))
        return false;
    errno = 0;
    *number = strtoull(value->text, NULL, 10);
    return errno == 0;
}

/* "" sets none, and is no name. */
static bool can_be_name(const struct pm_config_entry *entry, const char *text,
                        struct pm_error *error)
{
    if (text[0] == '\0' || entry->type == PM_CONFIG_STRING)
        return true;
    return entry->type == PM_CONFIG_GAME ? pm_game_check(text, "the name", PM_NAME_BYTES, error)
                                         : pm_name_check(text, "the name", PM_NAME_BYTES, error);
}

static bool store_string(char **to, const struct pm_config_entry *entry,
                         const struct pm_config_value *value, struct pm_error *error)
{
    if (value->type != PM_VALUE_STRING)
        return pm_fail(error, PM_ERROR_INPUT, "must be a string");
    if (pm_utf8_check(value->text, strlen(value->text)) != strlen(value->text))
        return pm_fail(error, PM_ERROR_INPUT, "must be UTF-8");
    for (const char *c = value->text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            return pm_fail(error, PM_ERROR_INPUT, "must not contain a control character");
    }
    if (!can_be_name(entry, value->text, error))
        return false;
    char *copy = NULL;
    if (value->text[0] != '\0') {
        copy = strdup(value->text);
        if (!copy)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    free(*to);
    *to = copy;
    return true;
}

static bool store_probability(double *to, const struct pm_config_entry *entry,
                              const struct pm_config_value *value, struct pm_error *error)
{
    if (value->type != PM_VALUE_NUMBER)
        return pm_fail(error, PM_ERROR_INPUT, "must be a number from %g to %g", entry->minimum,
                       entry->maximum);
    /* The process is not ours, and its locale may write 0,5. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!plain)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    double number = strtod_l(value->text, NULL, plain);
    freelocale(plain);
    if (!(number >= entry->minimum && number <= entry->maximum))
        return pm_fail(error, PM_ERROR_INPUT, "%.40s is out of range: must be from %g to %g",
                       value->text, entry->minimum, entry->maximum);
    *to = number;
    return true;
}

static bool store_count(uint32_t *to, const struct pm_config_entry *entry,
                        const struct pm_config_value *value, struct pm_error *error)
{
    const char *or_all = entry->type == PM_CONFIG_BATCH ? " or \"all\"" : "";
    if (value->type == PM_VALUE_STRING && entry->type == PM_CONFIG_BATCH &&
        strcmp(value->text, "all") == 0) {
        *to = PM_BATCH_ALL;
        return true;
    }
    uint64_t number;
    if (value->type != PM_VALUE_NUMBER)
        return pm_fail(error, PM_ERROR_INPUT, "must be a whole number from %.0f to %.0f%s",
                       entry->minimum, entry->maximum, or_all);
    if (!whole(value, &number) || (double)number < entry->minimum ||
        (double)number > entry->maximum)
        return pm_fail(error, PM_ERROR_INPUT,
                       "%.40s is out of range: must be a whole number from %.0f to %.0f%s",
                       value->text, entry->minimum, entry->maximum, or_all);
    *to = (uint32_t)number;
    return true;
}

enum { NAMES_TEXT = 128 };

/* "a", "b" or "c", with `last` before the last of at least two. */
static void join_names(const char *const *names, const char *last, char all[static NAMES_TEXT])
{
    all[0] = '\0';
    for (uint32_t i = 0; names[i]; i++) {
        const size_t used = strlen(all);
        if (i > 0 && !names[i + 1])
            snprintf(all + used, NAMES_TEXT - used, " %s \"%s\"", last, names[i]);
        else
            snprintf(all + used, NAMES_TEXT - used, "%s\"%s\"", i > 0 ? ", " : "", names[i]);
    }
}

static bool store_list(uint32_t *to, const struct pm_config_entry *entry,
                       const struct pm_config_value *value, size_t *bad_element,
                       struct pm_error *error)
{
    const bool of_kinds = entry->choices == pm_config_kind_names;
    if (value->type != PM_VALUE_LIST)
        return pm_fail(error, PM_ERROR_INPUT, "must be a list of %s, as in [\"%s\", \"%s\"]",
                       of_kinds ? "kinds of profile" : "passes", entry->choices[0],
                       entry->choices[1]);
    uint32_t bits = 0;
    for (size_t i = 0; i < value->list_count; i++) {
        uint32_t bit = 0;
        for (uint32_t k = 0; entry->choices[k]; k++) {
            if (strcmp(value->list[i], entry->choices[k]) == 0)
                bit = 1u << k;
        }
        *bad_element = i;
        if (!bit) {
            char all[NAMES_TEXT];
            join_names(entry->choices, "and", all);
            return pm_fail(error, PM_ERROR_INPUT, "\"%.40s\" is no %s (there are %s)",
                           value->list[i], of_kinds ? "kind of profile" : "pass", all);
        }
        if (bits & bit)
            return pm_fail(error, PM_ERROR_INPUT, "\"%s\" is named twice", value->list[i]);
        bits |= bit;
    }
    *bad_element = SIZE_MAX;
    *to = bits;
    return true;
}

static bool store_choice(void *to, const struct pm_config_entry *entry,
                         const struct pm_config_value *value, struct pm_error *error)
{
    for (uint32_t i = 0; entry->choices[i]; i++) {
        if (value->type == PM_VALUE_STRING && strcmp(value->text, entry->choices[i]) == 0) {
            memcpy(to, &i, sizeof(i));
            return true;
        }
    }
    char all[NAMES_TEXT];
    join_names(entry->choices, "or", all);
    return pm_fail(error, PM_ERROR_INPUT, "must be %s", all);
}

bool pm_config_store(struct pm_config *config, const struct pm_config_entry *entry,
                     const struct pm_config_value *value, size_t *bad_element,
                     struct pm_error *error)
{
    void *to = field(config, entry);
    *bad_element = SIZE_MAX;
    switch (entry->type) {
    case PM_CONFIG_STRING:
    case PM_CONFIG_GAME:
    case PM_CONFIG_NAME:
        return store_string(to, entry, value, error);
    case PM_CONFIG_BOOLEAN:
    case PM_CONFIG_CONSENT:
        if (value->type != PM_VALUE_BOOLEAN)
            return pm_fail(error, PM_ERROR_INPUT, "must be true or false");
        if (entry->type == PM_CONFIG_BOOLEAN)
            *(bool *)to = value->boolean;
        else if (!value->boolean)
            *(bool *)to = true;
        return true;
    case PM_CONFIG_PROBABILITY:
        return store_probability(to, entry, value, error);
    case PM_CONFIG_COUNT:
    case PM_CONFIG_BATCH:
        return store_count(to, entry, value, error);
    case PM_CONFIG_LIST:
        return store_list(to, entry, value, bad_element, error);
    case PM_CONFIG_SEED:
        if (!whole(value, to))
            return pm_fail(error, PM_ERROR_INPUT, "must be a whole number from 0 to %llu",
                           (unsigned long long)UINT64_MAX);
        config->sampler.seed_set = true;
        return true;
    case PM_CONFIG_CHOICE:
        return store_choice(to, entry, value, error);
    }
    return pm_fail(error, PM_ERROR_INPUT, "cannot be set");
}

bool pm_config_copy(struct pm_config *to, const struct pm_config *from)
{
    *to = *from;
    bool copied = true;
    for (const struct pm_config_entry *entry = pm_config_entries; entry->key; entry++) {
        if (!pm_config_is_string(entry))
            continue;
        char **string = field(to, entry);
        if (*string && !(*string = strdup(*string)))
            copied = false;
    }
    if (!copied)
        pm_config_finish(to);
    return copied;
}
