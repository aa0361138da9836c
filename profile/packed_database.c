#include "profile/packed_database.h"

#include "base/stop.h"
#include "profile/database_check.h"
#include "profile/wire.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = "PMPACK4\n";

/* What it is made for: another build may order or size its numbers otherwise. */
#define FORM 0x01020304u

struct header {
    char magic[8];
    uint32_t form, record_bytes;
    uint64_t file_bytes, shader_count;
    struct pm_packed_source source;
    uint64_t published; /* 1 << kind, each that is of any shader, provisional ones too */
};

struct record {
    struct pm_shader_key key, original;
    struct pm_environment environment;
    uint32_t kind, flags, space, published, candidates;
    uint64_t entry_lanes;
    uint64_t points, deficit, provisional; /* where in the file; 0: none */
};

/* A measure of a point; before a point's measures are its calls and sessions. */
struct measure {
    uint32_t clusters;
    float values[PM_RATIO_VALUES];
};

struct pm_packed_database {
    const unsigned char *bytes;
    size_t size;
    bool is_mapped; /* else malloc'ed */
    struct header header;
};

static size_t point_bytes(enum pm_kind kind)
{
    return 2 * sizeof(uint32_t) + pm_measure_count(kind) * sizeof(struct measure);
}

/* ---- packing ---- */

static bool append_points(const struct pm_shader_estimates *shader, struct pm_buffer *out)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < shader->space; i++) {
        const struct pm_point_estimate *point = &shader->points[i];
        const uint32_t counts[2] = {point->calls, point->sessions};
        ok = pm_buffer_append(out, counts, sizeof counts);
        for (unsigned m = 0; ok && m < pm_measure_count(shader->kind); m++) {
            const struct pm_ratio *ratio = &point->measures[m];
            const struct measure measure = {ratio->clusters,
                                            {(float)ratio->mean, (float)ratio->mean_low,
                                             (float)ratio->mean_high, (float)ratio->ratio,
                                             (float)ratio->ratio_low, (float)ratio->ratio_high}};
            ok = pm_buffer_append(out, &measure, sizeof measure);
        }
    }
    return ok;
}

static struct record record_of(const struct pm_shader_estimates *shader)
{
    return (struct record){
        .key = shader->key,
        .original = shader->original,
        .environment = shader->environment,
        .kind = shader->kind,
        .flags = shader->flags,
        .space = shader->space,
        .published = shader->published,
        .candidates = shader->candidates,
        .entry_lanes = shader->entry_lanes,
    };
}

/* What the records refer to, in their order. */
static bool append_all(const struct pm_database *database, struct record *records, size_t start,
                       struct pm_buffer *out)
{
    bool ok = true;
    for (size_t i = 0; ok && i < database->shader_count; i++) {
        const struct pm_shader_estimates *shader = &database->shaders[i];
        ok = !pm_stop_asked();
        if (ok && shader->points) {
            records[i].points = out->size - start;
            ok = append_points(shader, out);
        }
        if (ok && shader->deficit) {
            records[i].deficit = out->size - start;
            ok = pm_buffer_append(out, shader->deficit, pm_bitmap_bytes(shader->space));
        }
        if (ok && shader->provisional) {
            records[i].provisional = out->size - start;
            ok = pm_buffer_append(out, shader->provisional, shader->space);
        }
    }
    return ok;
}

bool pm_database_pack(const struct pm_database *database, const struct pm_packed_source *source,
                      struct pm_buffer *out, struct pm_error *error)
{
    struct header header = {.form = FORM,
                            .record_bytes = sizeof(struct record),
                            .shader_count = database->shader_count,
                            .source = *source};
    const size_t start = out->size, count = database->shader_count;
    struct record *records = calloc(count + 1, sizeof *records);
    memcpy(header.magic, magic, sizeof magic);
    for (size_t i = 0; records && i < count; i++) {
        records[i] = record_of(&database->shaders[i]);
        if (records[i].published || database->shaders[i].provisional)
            header.published |= UINT64_C(1) << records[i].kind;
    }
    const bool ok = records && pm_buffer_append(out, &header, sizeof header) &&
                    pm_buffer_append(out, records, count * sizeof *records) &&
                    append_all(database, records, start, out);
    if (ok) {
        header.file_bytes = out->size - start;
        memcpy(out->data + start, &header, sizeof header);
        memcpy(out->data + start + sizeof header, records, count * sizeof *records);
    }
    free(records);
    return ok || (pm_stop_check(error) &&
                  pm_fail(error, PM_ERROR_MEMORY, "no memory to pack a database"));
}

/* ---- opening ---- */

static bool same_source(const struct pm_packed_source *a, const struct pm_packed_source *b)
{
    return a->bytes == b->bytes && a->inode == b->inode && a->seconds == b->seconds &&
           a->nanoseconds == b->nanoseconds;
}

static bool check_header(const struct pm_packed_database *packed,
                         const struct pm_packed_source *source, struct pm_error *error)
{
    const struct header *header = &packed->header;
    if (packed->size < sizeof *header)
        return pm_fail(error, PM_ERROR_INPUT, "a packed database ends in its header");
    if (memcmp(header->magic, magic, sizeof magic) != 0 || header->form != FORM ||
        header->record_bytes != sizeof(struct record) || !same_source(&header->source, source))
        return pm_fail(error, PM_ERROR_STATE, "a packed database of something else");
    if (header->file_bytes != packed->size ||
        header->shader_count > (packed->size - sizeof *header) / sizeof(struct record))
        return pm_fail(error, PM_ERROR_INPUT, "a packed database of %zu bytes instead of %zu",
                       packed->size, (size_t)header->file_bytes);
    return true;
}

/* *packed, allocated. */
static struct pm_packed_database *open_checked(const struct pm_packed_database *packed,
                                               const struct pm_packed_source *source,
                                               struct pm_error *error)
{
    if (!check_header(packed, source, error))
        return NULL;
    struct pm_packed_database *opened = malloc(sizeof *opened);
    if (opened)
        *opened = *packed;
    else
        pm_fail(error, PM_ERROR_MEMORY, "no memory for a database");
    return opened;
}

struct pm_packed_database *pm_packed_database_map(const char *path,
                                                  const struct pm_packed_source *source,
                                                  struct pm_error *error)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_size <= 0) {
        pm_fail(error, PM_ERROR_STATE, "%s: no packed database", path);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct pm_packed_database packed = {.size = (size_t)status.st_size, .is_mapped = true};
    /* Read and not mapped: who touches one page of a mapping may be given megabytes. */
    const bool read =
        pread(fd, &packed.header, sizeof packed.header, 0) == (ssize_t)sizeof packed.header;
    void *bytes = mmap(NULL, packed.size, PROT_READ, MAP_PRIVATE, fd, 0);
    const int why = errno;
    close(fd);
    if (bytes == MAP_FAILED) {
        pm_fail_errno(error, why, "%s: cannot map", path);
        return NULL;
    }
    /* A look-up reads here and there. */
    (void)madvise(bytes, packed.size, MADV_RANDOM);
    packed.bytes = bytes;
    struct pm_packed_database *opened = NULL;
    if (read)
        opened = open_checked(&packed, source, error);
    else
        pm_fail(error, PM_ERROR_INPUT, "it ends in its header");
    if (!opened) {
        munmap(bytes, packed.size);
        pm_fail_prefix(error, "%s", path);
    }
    return opened;
}

struct pm_packed_database *pm_packed_database_take(struct pm_buffer *bytes,
                                                   const struct pm_packed_source *source,
                                                   struct pm_error *error)
{
    struct pm_packed_database packed = {.bytes = bytes->data, .size = bytes->size};
    if (packed.size >= sizeof packed.header)
        memcpy(&packed.header, packed.bytes, sizeof packed.header);
    struct pm_packed_database *opened = open_checked(&packed, source, error);
    if (opened)
        pm_buffer_init(bytes, bytes->cap);
    return opened;
}

void pm_packed_database_close(struct pm_packed_database *packed)
{
    if (!packed)
        return;
    if (packed->is_mapped)
        munmap((void *)(uintptr_t)packed->bytes, packed->size);
    else
        free((void *)(uintptr_t)packed->bytes);
    free(packed);
}

bool pm_packed_database_has(const struct pm_packed_database *packed, enum pm_kind kind)
{
    return (packed->header.published >> kind & 1) != 0;
}

/* ---- looking up ---- */

static struct record record_at(const struct pm_packed_database *packed, uint64_t index)
{
    struct record record;
    memcpy(&record, packed->bytes + sizeof(struct header) + index * sizeof record, sizeof record);
    return record;
}

/* So many bytes of the file; NULL: it has not as many there. */
static const unsigned char *bytes_at(const struct pm_packed_database *packed, uint64_t at,
                                     uint64_t bytes)
{
    return at <= packed->size && bytes <= packed->size - at ? packed->bytes + at : NULL;
}

static const unsigned char *take_measure(const unsigned char *from, struct pm_ratio *ratio)
{
    struct measure measure;
    memcpy(&measure, from, sizeof measure);
    *ratio = (struct pm_ratio){.mean = measure.values[0],
                               .mean_low = measure.values[1],
                               .mean_high = measure.values[2],
                               .ratio = measure.values[3],
                               .ratio_low = measure.values[4],
                               .ratio_high = measure.values[5],
                               .clusters = measure.clusters};
    return from + sizeof measure;
}

static bool take_points(const struct pm_packed_database *packed, const struct record *record,
                        struct pm_shader_estimates *found)
{
    const unsigned char *from =
        bytes_at(packed, record->points, record->space * (uint64_t)point_bytes(found->kind));
    struct pm_point_estimate *points =
        from ? calloc(record->space + (size_t)1, sizeof *points) : NULL;
    if (!points)
        return false;
    for (uint32_t i = 0; i < record->space; i++) {
        memcpy(&points[i].calls, from, sizeof points[i].calls);
        memcpy(&points[i].sessions, from + sizeof(uint32_t), sizeof points[i].sessions);
        from += 2 * sizeof(uint32_t);
        for (unsigned m = 0; m < pm_measure_count(found->kind); m++)
            from = take_measure(from, &points[i].measures[m]);
    }
    found->points = points;
    return true;
}

static bool take(const struct pm_packed_database *packed, const struct record *record,
                 struct pm_shader_estimates *found)
{
    *found = (struct pm_shader_estimates){
        .key = record->key,
        .environment = record->environment,
        .kind = (enum pm_kind)record->kind,
        .flags = record->flags,
        .space = record->space,
        .published = record->published != 0,
        .candidates = record->candidates,
        .entry_lanes = record->entry_lanes,
        .original = record->original,
    };
    if (record->space > pm_profile_limits_default.space)
        return false;
    if (record->deficit)
        found->deficit = bytes_at(packed, record->deficit, pm_bitmap_bytes(record->space));
    if (record->provisional)
        found->provisional = bytes_at(packed, record->provisional, record->space);
    return (!record->deficit || found->deficit) && (!record->provisional || found->provisional) &&
           (!record->points || take_points(packed, record, found)) &&
           pm_shader_estimates_check(found, 0, NULL);
}

static int compare(const struct record *record, const struct pm_shader_key *key,
                   const struct pm_environment *environment, enum pm_kind kind)
{
    return pm_identity_compare(&record->key, &record->environment, (enum pm_kind)record->kind, 0,
                               key, environment, kind, 0);
}

static bool find_record(const struct pm_packed_database *packed, const struct pm_shader_key *key,
                        const struct pm_environment *environment, enum pm_kind kind,
                        struct record *found)
{
    uint64_t low = 0, high = packed ? packed->header.shader_count : 0;
    const uint64_t count = high;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const struct record record = record_at(packed, middle);
        if (compare(&record, key, environment, kind) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count)
        return false;
    *found = record_at(packed, low);
    return compare(found, key, environment, kind) == 0;
}

bool pm_packed_database_has_of(const struct pm_packed_database *packed,
                               const struct pm_shader_key *key,
                               const struct pm_environment *environment, enum pm_kind kind)
{
    struct record record;
    return find_record(packed, key, environment, kind, &record) && record.published != 0 &&
           record.points != 0;
}

bool pm_packed_database_is_provisional(const struct pm_packed_database *packed,
                                       const struct pm_shader_key *key,
                                       const struct pm_environment *environment, enum pm_kind kind)
{
    struct record record;
    return find_record(packed, key, environment, kind, &record) && record.published == 0 &&
           record.provisional != 0;
}

bool pm_packed_database_find(const struct pm_packed_database *packed,
                             const struct pm_shader_key *key,
                             const struct pm_environment *environment, enum pm_kind kind,
                             struct pm_shader_estimates *found)
{
    struct record record;
    *found = (struct pm_shader_estimates){0};
    if (find_record(packed, key, environment, kind, &record) && take(packed, &record, found))
        return true;
    pm_shader_estimates_finish(found);
    return false;
}

void pm_shader_estimates_finish(struct pm_shader_estimates *found)
{
    free((void *)(uintptr_t)found->points);
    *found = (struct pm_shader_estimates){0};
}
