#include "aggregator/service/service_field.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
    "at_most_once",    "calls",     "candidates",    "counts",      "day",           "driver_id",
    "driver_version",  "device_id", "entry_lanes",   "environment", "flags",         "game",
    "entry_subgroups", "key",       "kind",          "lanes",       "layer_version", "original",
    "original_ns",     "point",     "points",        "scene",       "shaders",       "space",
    "subgroup_size",   "subgroups", "uniform_lanes", "upload_id",   "variant_ns",    "vendor_id",
    "version",         "writes",    "zero_writes",   "lanes_alone",
};

static size_t word_length(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

static bool is_name(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strlen(names[i]) == length && strncmp(word, names[i], length) == 0)
            return true;
    }
    return false;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Appends one step of the way; index NULL: a name alone. */
static void append(char field[static PM_FIELD_BYTES], const char *name, int length,
                   const char *index)
{
    const size_t used = strlen(field);
    const char *dot = used > 0 ? "." : "";
    if (index)
        snprintf(field + used, PM_FIELD_BYTES - used, "%s%.*s[%.*s]", dot, length, name,
                 (int)word_length(index), index);
    else
        snprintf(field + used, PM_FIELD_BYTES - used, "%s%.*s", dot, length, name);
}

void pm_field_of(const char *message, char field[static PM_FIELD_BYTES])
{
    field[0] = 0;
    for (const char *at = message; at; at = strstr(at, ": "), at = at ? at + 2 : NULL) {
        const char *word = begins(at, "field ") ? at + strlen("field ") : at;
        const size_t length = word_length(word);
        if (begins(at, "profile: ") || begins(at, "message: "))
            continue;
        if (begins(at, "shader ")) {
            append(field, "shaders", (int)strlen("shaders"), at + strlen("shader "));
        } else if (begins(at, "point ") && strspn(at + strlen("point "), "0123456789") > 0) {
            append(field, "points", (int)strlen("points"), at + strlen("point "));
        } else {
            if (is_name(word, length))
                append(field, word, (int)length, NULL);
            break;
        }
    }
    if (field[0] == 0)
        snprintf(field, PM_FIELD_BYTES, "body");
}
