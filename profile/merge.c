#include "profile/wire.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A merged shader; its points ascend, so that another ascending list is merged in one pass. */
struct entry {
    struct pm_shader_profile shader; /* points and at_most_once point to what follows */
    struct pm_point_counts *points;
    uint8_t *at_most_once;
};

struct pm_profile_merge {
    struct entry *entries;
    size_t count, allocated;
    uint32_t *index; /* open addressing: 0 free, else 1 + entry; a power of two of slots */
    size_t slots;
    struct pm_shader_profile *sorted;
};

struct pm_profile_merge *pm_profile_merge_create(void)
{
    return calloc(1, sizeof(struct pm_profile_merge));
}

void pm_profile_merge_destroy(struct pm_profile_merge *merge)
{
    if (!merge)
        return;
    for (size_t i = 0; i < merge->count; i++) {
        free(merge->entries[i].points);
        free(merge->entries[i].at_most_once);
    }
    free(merge->entries);
    free(merge->index);
    free(merge->sorted);
    free(merge);
}

static int compare(const struct pm_shader_profile *a, const struct pm_shader_profile *b)
{
    return pm_identity_compare(&a->key, &a->environment, a->kind, a->flags, &b->key,
                               &b->environment, b->kind, b->flags);
}

/* The key is a digest already; the rest seldom differs. */
static size_t hash(const struct pm_shader_profile *shader)
{
    uint64_t value;
    memcpy(&value, shader->key.bytes, sizeof(value));
    value ^= (uint64_t)shader->environment.subgroup_size << 32 ^ (uint64_t)shader->kind << 8 ^
             shader->flags;
    value *= 0x9E3779B97F4A7C15u;
    return (size_t)(value ^ value >> 32);
}

/* The slot that holds the shader, or the free one where it belongs. */
static uint32_t *slot_of(const struct pm_profile_merge *merge,
                         const struct pm_shader_profile *shader)
{
    size_t at = hash(shader) & (merge->slots - 1);
    while (merge->index[at] != 0 &&
           compare(&merge->entries[merge->index[at] - 1].shader, shader) != 0)
        at = (at + 1) & (merge->slots - 1);
    return &merge->index[at];
}

static bool grow(struct pm_profile_merge *merge)
{
    if (merge->count == merge->allocated) {
        size_t allocated = merge->allocated ? merge->allocated * 2 : 32;
        struct entry *entries = reallocarray(merge->entries, allocated, sizeof(*entries));
        if (!entries)
            return false;
        merge->entries = entries;
        merge->allocated = allocated;
    }
    if ((merge->count + 1) * 2 <= merge->slots)
        return true;
    size_t slots = merge->slots ? merge->slots * 2 : 64;
    uint32_t *index = calloc(slots, sizeof(*index));
    if (!index)
        return false;
    free(merge->index);
    merge->index = index;
    merge->slots = slots;
    for (size_t i = 0; i < merge->count; i++)
        *slot_of(merge, &merge->entries[i].shader) = (uint32_t)(i + 1);
    return true;
}

/* Saturating keeps "a is at most b" true of sums of which it was true before. */
static uint64_t add64(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static void add_counts(struct pm_point_counts *to, const struct pm_point_counts *from)
{
    uint32_t calls;
    to->calls = __builtin_add_overflow(to->calls, from->calls, &calls) ? UINT32_MAX : calls;
    to->entry_lanes = add64(to->entry_lanes, from->entry_lanes);
    to->entry_subgroups = add64(to->entry_subgroups, from->entry_subgroups);
    const bool alone = (to->lanes_alone | from->lanes_alone) != 0;
    const uint64_t known = alone ? add64(pm_point_lanes_known(to), pm_point_lanes_known(from)) : 0;
    for (int i = 0; i < PM_COUNTS; i++)
        to->counts[i] = add64(to->counts[i], from->counts[i]);
    if (alone)
        to->lanes_alone = to->counts[PM_BLOCK_LANES] - known;
}

static int compare_points(const void *a, const void *b)
{
    const struct pm_point_counts *x = a, *y = b;
    return (x->point > y->point) - (x->point < y->point);
}

/* Both ascending into *out (room for a_count + b_count); returns how many. */
static size_t merge_points(const struct pm_point_counts *a, size_t a_count,
                           const struct pm_point_counts *b, size_t b_count,
                           struct pm_point_counts *out)
{
    size_t i = 0, j = 0, n = 0;
    while (i < a_count || j < b_count) {
        bool from_a = j == b_count || (i < a_count && a[i].point <= b[j].point);
        const struct pm_point_counts *next = from_a ? &a[i++] : &b[j++];
        if (n > 0 && out[n - 1].point == next->point)
            add_counts(&out[n - 1], next);
        else
            out[n++] = *next;
    }
    return n;
}

static bool add_points(struct entry *entry, const struct pm_shader_profile *from)
{
    size_t old = entry->shader.point_count, more = from->point_count;
    if (more == 0)
        return true;
    struct pm_point_counts *both = calloc(old + more, sizeof(*both));
    struct pm_point_counts *sorted = malloc(more * sizeof(*sorted));
    if (!both || !sorted) {
        free(both);
        free(sorted);
        return false;
    }
    memcpy(sorted, from->points, more * sizeof(*sorted));
    qsort(sorted, more, sizeof(*sorted), compare_points);
    entry->shader.point_count = merge_points(entry->points, old, sorted, more, both);
    free(sorted);
    free(entry->points);
    entry->points = both;
    entry->shader.points = both;
    return true;
}

/* Can they be profiles of one shader? */
static bool agree(const struct pm_shader_profile *a, const struct pm_shader_profile *b,
                  struct pm_error *error)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&a->key, key);
    if (a->space != b->space)
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %s: a space of %" PRIu32 " and one of %" PRIu32 " points", key,
                       a->space, b->space);
    if (a->at_most_once && b->at_most_once &&
        memcmp(a->at_most_once, b->at_most_once, pm_bitmap_bytes(a->space)) != 0)
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %s: different points are said to run at most once", key);
    return true;
}

/* The lesser of two, so that the order in which they come does not matter. */
static void merge_original(struct pm_shader_key *to, const struct pm_shader_key *from)
{
    if (pm_shader_key_is_none(from))
        return;
    if (pm_shader_key_is_none(to) || memcmp(from->bytes, to->bytes, sizeof(to->bytes)) < 0)
        *to = *from;
}

static bool add_shader(struct pm_profile_merge *merge, const struct pm_shader_profile *from)
{
    if (!grow(merge))
        return false;
    uint32_t *slot = slot_of(merge, from);
    if (*slot == 0) {
        merge->entries[merge->count] = (struct entry){.shader = *from};
        merge->entries[merge->count].shader.points = NULL;
        merge->entries[merge->count].shader.point_count = 0;
        merge->entries[merge->count].shader.at_most_once = NULL;
        *slot = (uint32_t)++merge->count;
    }
    struct entry *entry = &merge->entries[*slot - 1];
    merge_original(&entry->shader.original, &from->original);
    if (from->candidates > entry->shader.candidates)
        entry->shader.candidates = from->candidates;
    if (from->at_most_once && !entry->at_most_once) {
        entry->at_most_once = malloc(pm_bitmap_bytes(from->space));
        if (!entry->at_most_once)
            return false;
        memcpy(entry->at_most_once, from->at_most_once, pm_bitmap_bytes(from->space));
        entry->shader.at_most_once = entry->at_most_once;
    }
    return add_points(entry, from);
}

bool pm_profile_merge_add(struct pm_profile_merge *merge, const struct pm_profile *from,
                          struct pm_error *error)
{
    /* Disagreements first, so that a profile is merged whole or not at all. */
    for (size_t i = 0; i < from->shader_count && merge->slots > 0; i++) {
        uint32_t at = *slot_of(merge, &from->shaders[i]);
        if (at != 0 && !agree(&merge->entries[at - 1].shader, &from->shaders[i], error))
            return false;
    }
    for (size_t i = 0; i < from->shader_count; i++) {
        /* One profile may name a shader twice, and disagree with itself. */
        uint32_t at = merge->slots > 0 ? *slot_of(merge, &from->shaders[i]) : 0;
        if (at != 0 && !agree(&merge->entries[at - 1].shader, &from->shaders[i], error))
            return false;
        if (!add_shader(merge, &from->shaders[i]))
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for merging profiles");
    }
    return true;
}

static int compare_shaders(const void *a, const void *b)
{
    return compare(a, b);
}

const struct pm_shader_profile *pm_profile_merge_shaders(struct pm_profile_merge *merge,
                                                         size_t *count)
{
    struct pm_shader_profile *sorted =
        reallocarray(merge->sorted, merge->count + 1, sizeof(*merge->sorted));
    *count = 0;
    if (!sorted)
        return NULL;
    merge->sorted = sorted;
    for (size_t i = 0; i < merge->count; i++)
        sorted[i] = merge->entries[i].shader;
    qsort(sorted, merge->count, sizeof(*sorted), compare_shaders);
    *count = merge->count;
    return sorted;
}
