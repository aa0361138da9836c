/*
 * The one table of configuration keys. Parsing a file, `--set`, the environment and the schema
 * check in the tests are all driven by it. Private to base/ and its tests.
 *
 * Thread safety: read-only data, no state.
 */
#pragma once

#include "base/config.h"
#include <stddef.h>

enum pm_config_type {
    PM_CONFIG_STRING,      /* char *; "" means none */
    PM_CONFIG_GAME,        /* a string that can be a game's name (name.h) */
    PM_CONFIG_NAME,        /* a string that can be a scene's */
    PM_CONFIG_BOOLEAN,     /* bool */
    PM_CONFIG_CONSENT,     /* bool, which false sets and true leaves */
    PM_CONFIG_PROBABILITY, /* double, minimum to maximum */
    PM_CONFIG_COUNT,       /* uint32_t, minimum to maximum */
    PM_CONFIG_BATCH,       /* uint32_t, or "all" */
    PM_CONFIG_LIST,        /* uint32_t, bits; a list of names in choices */
    PM_CONFIG_SEED,        /* uint64_t, and sampler.seed_set */
    PM_CONFIG_CHOICE,      /* an enum, stored by its size; names in choices */
};

struct pm_config_entry {
    const char *key; /* "section.key" */
    enum pm_config_type type;
    size_t offset;              /* bytes in struct pm_config */
    double minimum, maximum;    /* both allowed */
    const char *const *choices; /* by value, or by bit number; NULL after the last */
};

/* Is it stored as a char *, NULL for ""? */
static inline bool pm_config_is_string(const struct pm_config_entry *entry)
{
    return entry->type == PM_CONFIG_STRING || entry->type == PM_CONFIG_GAME ||
           entry->type == PM_CONFIG_NAME;
}

/* Ends with a NULL key. */
extern const struct pm_config_entry pm_config_entries[];

/* The names of enum pm_kind_bit and of optimize.block_passes' bits by number, NULL after the last.
 */
extern const char *const pm_config_kind_names[], *const pm_config_block_pass_names[];

/* NULL when there is none. */
const struct pm_config_entry *pm_config_find(const char *key);

/* Is there a section of this name? */
bool pm_config_has_section(const char *section);

/* The known name nearest to one that is not known; NULL when none is near. section: look for
 * sections only. */
const char *pm_config_nearest(const char *name, bool section, char *out, size_t size);

/* A value as the table's types see it, from JSON or from text. */
struct pm_config_value {
    enum {
        PM_VALUE_NUMBER, /* text is a JSON number */
        PM_VALUE_STRING,
        PM_VALUE_BOOLEAN,
        PM_VALUE_LIST, /* of strings */
        PM_VALUE_OTHER
    } type;
    const char *text; /* the number's digits, or the string */
    bool boolean;
    const char *const *list;
    size_t list_count;
};

/* Checks and stores. On failure the message is only what is wrong ("must be …"), without the key or
 * the place, and *config is as it was. *bad_element: which element of a list is wrong, else
 * SIZE_MAX. */
bool pm_config_store(struct pm_config *config, const struct pm_config_entry *entry,
                     const struct pm_config_value *value, size_t *bad_element,
                     struct pm_error *error);

/* A deep copy; false when out of memory (*to is then empty). */
bool pm_config_copy(struct pm_config *to, const struct pm_config *from);
