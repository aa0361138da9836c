#include "aggregator/intake/damaged.h"

#include "aggregator/statistics/statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- looking ---- */

static bool check_sample(const struct pm_sample *sample, struct pm_error *error)
{
    struct pm_shader_profile shader = sample->shader;
    struct pm_point_counts *points = calloc(shader.point_count + 1, sizeof(*points));
    shader.points = points;
    const bool done = (points || pm_fail(error, PM_ERROR_MEMORY, "out of memory for a sample")) &&
                      pm_sample_points(sample, points, error) &&
                      pm_statistics_check_profile(&shader, error);
    free(points);
    return done;
}

bool pm_damaged_check(const struct pm_storage_samples *row, struct pm_error *error)
{
    struct pm_sample_reader reader;
    bool end = false;
    if (row->damaged)
        return pm_fail(error, PM_ERROR_INPUT, "their checksum is another");
    pm_sample_reader_init(&reader, row->data, row->size);
    while (pm_sample_next(&reader, &end, error)) {
        if (end)
            return true;
        if (!check_sample(&reader.sample, error))
            return false;
    }
    return false;
}

bool pm_damaged_read(const struct pm_storage_samples *row, const struct pm_row_reading *reading,
                     bool *whole, struct pm_error *why, struct pm_error *error)
{
    struct pm_sample_reader reader;
    bool end = false;
    *whole = (!reading->careful && !row->damaged) || pm_damaged_check(row, why);
    if (!*whole && why->code == PM_ERROR_MEMORY) {
        *error = *why;
        return false;
    }
    pm_sample_reader_init(&reader, row->data, row->size);
    while (*whole && !end) {
        *whole = pm_sample_next(&reader, &end, why) &&
                 (end || reader.mark || !reading->marked ||
                  pm_fail(why, PM_ERROR_INPUT, "a sample that waits has no mark"));
        if (*whole && !end && !reading->take(reading->user, &reader, error))
            return false;
    }
    return true;
}

/* ---- setting aside ---- */

void pm_damaged_finish(struct pm_damaged *damaged)
{
    free(damaged->rows);
    *damaged = (struct pm_damaged){0};
}

bool pm_damaged_add(struct pm_damaged *damaged, const struct pm_storage_samples *row,
                    const struct pm_error *why, struct pm_error *error)
{
    if (damaged->count == damaged->allocated) {
        const size_t allocated = damaged->allocated ? damaged->allocated * 2 : 4;
        struct pm_damaged_row *rows = realloc(damaged->rows, allocated * sizeof(*rows));
        if (!rows)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu damaged rows", allocated);
        damaged->rows = rows;
        damaged->allocated = allocated;
    }
    damaged->rows[damaged->count++] = (struct pm_damaged_row){*row, *why};
    return true;
}

bool pm_damaged_set_aside(const struct pm_damaged *damaged, struct pm_quarantine *quarantine,
                          struct pm_error *error)
{
    for (size_t i = 0; i < damaged->count; i++) {
        const struct pm_storage_samples *row = &damaged->rows[i].row;
        char reason[sizeof(damaged->rows[i].why.message) + 128];
        snprintf(reason, sizeof(reason),
                 PM_DAMAGED_REASON ": row %" PRIu64 " of day %" PRIu32 ", %zu bytes: %s", row->row,
                 row->day, row->size, damaged->rows[i].why.message);
        if (!pm_quarantine_set_aside(quarantine, row->game, reason, row->data, row->size, error))
            return false;
    }
    return true;
}

void pm_damaged_log(const struct pm_damaged *damaged, struct pm_log *log)
{
    for (size_t i = 0; i < damaged->count; i++) {
        const struct pm_storage_samples *row = &damaged->rows[i].row;
        pm_log_error(log,
                     "\"%s\": %zu bytes of uploads that waited are damaged (%s). They are in the "
                     "quarantine, and not in the statistics; look at the disk",
                     row->game, row->size, damaged->rows[i].why.message);
    }
}
