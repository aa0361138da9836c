#include "aggregator_client/disk/spool.h"
#include "aggregator_client/disk/spool_format.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

/* For a state on the stack. */
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

static const char magic[8] = "PMSPOOL\n";

/* Where a spool's bytes come from: a file, or memory when fd is -1. */
struct source {
    int fd;
    const uint8_t *data;
    size_t left; /* of data */
    uint64_t at; /* offset of the next byte */
};

static void put32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get32(const uint8_t *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

static uint64_t checksum(uint64_t offset, const uint8_t length[static 4], const void *payload,
                         size_t size)
{
    XXH64_state_t state;
    XXH64_reset(&state, offset);
    XXH64_update(&state, length, 4);
    XXH64_update(&state, payload, size);
    return XXH64_digest(&state);
}

void pm_spool_header_fill(uint8_t header[static PM_SPOOL_HEADER], uint32_t flags)
{
    memcpy(header, magic, sizeof(magic));
    put32(header + 8, PM_SPOOL_VERSION);
    put32(header + 12, flags);
}

void pm_spool_record_header_fill(uint8_t header[static PM_SPOOL_RECORD_HEADER], uint64_t offset,
                                 const void *payload, uint32_t length)
{
    put32(header, length);
    uint64_t sum = checksum(offset, header, payload, length);
    put32(header + 4, (uint32_t)sum);
    put32(header + 8, (uint32_t)(sum >> 32));
}

/* Appends up to size bytes to *out; *got says how many there were. false: reading failed. */
static bool fetch(struct source *source, size_t size, struct pm_buffer *out, size_t *got,
                  struct pm_error *error)
{
    *got = 0;
    while (*got < size) {
        uint8_t chunk[16384];
        const uint8_t *from = source->data;
        size_t want = size - *got;
        if (source->fd >= 0) {
            ssize_t n = read(source->fd, chunk, want < sizeof(chunk) ? want : sizeof(chunk));
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                return pm_fail_errno(error, errno, "cannot read");
            want = (size_t)n;
            from = chunk;
        } else {
            want = want < source->left ? want : source->left;
            source->data += want;
            source->left -= want;
        }
        if (want == 0)
            return true;
        if (!pm_buffer_append(out, from, want))
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        *got += want;
        source->at += want;
    }
    return true;
}

static bool check_header(struct source *source, uint32_t *flags, struct pm_error *error)
{
    struct pm_buffer header;
    size_t got;
    pm_buffer_init(&header, PM_SPOOL_HEADER);
    bool good = fetch(source, PM_SPOOL_HEADER, &header, &got, error);
    if (good && (got < PM_SPOOL_HEADER || memcmp(header.data, magic, sizeof(magic)) != 0))
        good = pm_fail(error, PM_ERROR_INPUT, "byte 0: this is no spool file");
    if (good && get32(header.data + 8) != PM_SPOOL_VERSION)
        good = pm_fail(error, PM_ERROR_INPUT,
                       "byte 8: format version %" PRIu32 "; this program knows %u",
                       get32(header.data + 8), PM_SPOOL_VERSION);
    *flags = good ? get32(header.data + 12) : 0;
    if (good && *flags != 0 && *flags != PM_SPOOL_WITHHELD)
        good = pm_fail(error, PM_ERROR_INPUT, "byte 12: flags not known to this program");
    pm_buffer_finish(&header);
    return good;
}

enum outcome { RECORD, END, DAMAGED, FAILED };

/* The next record's header and payload into *record. */
static enum outcome next_record(struct source *source, struct pm_buffer *record,
                                struct pm_error *error)
{
    uint64_t start = source->at;
    size_t got;
    record->size = 0;
    if (!fetch(source, PM_SPOOL_RECORD_HEADER, record, &got, error))
        return FAILED;
    if (got == 0)
        return END;
    if (got < PM_SPOOL_RECORD_HEADER) {
        pm_fail(error, PM_ERROR_INPUT, "byte %" PRIu64 ": the file ends within a record's header",
                start);
        return DAMAGED;
    }
    uint32_t length = get32(record->data);
    if (length == 0 || length > pm_profile_limits_default.decompressed_bytes) {
        pm_fail(error, PM_ERROR_INPUT, "byte %" PRIu64 ": a record of %" PRIu32 " bytes", start,
                length);
        return DAMAGED;
    }
    if (!fetch(source, length, record, &got, error))
        return FAILED;
    if (got < length) {
        pm_fail(error, PM_ERROR_INPUT,
                "byte %" PRIu64 ": a record of %" PRIu32 " bytes, of which the file has %zu", start,
                length, got);
        return DAMAGED;
    }
    uint64_t sum = get32(record->data + 4) | (uint64_t)get32(record->data + 8) << 32;
    if (sum != checksum(start, record->data, record->data + PM_SPOOL_RECORD_HEADER, length)) {
        pm_fail(error, PM_ERROR_INPUT, "byte %" PRIu64 ": the record's checksum is wrong", start);
        return DAMAGED;
    }
    return RECORD;
}

typedef bool (*visitor)(void *user, const struct pm_profile *checkpoint, struct pm_error *error);

static enum outcome visit_record(const struct pm_buffer *record, uint64_t start, visitor visit,
                                 void *user, struct pm_error *error)
{
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_profile checkpoint;
    enum outcome outcome = RECORD;
    if (!arena) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return FAILED;
    }
    if (!pm_profile_decode(record->data + PM_SPOOL_RECORD_HEADER,
                           record->size - PM_SPOOL_RECORD_HEADER, NULL, arena, &checkpoint,
                           error)) {
        /* It is as it was written, so that another version can read it: no torn tail. */
        pm_fail_prefix(error, "byte %" PRIu64, start);
        outcome = FAILED;
    } else if (!visit(user, &checkpoint, error)) {
        outcome = FAILED;
    }
    pm_arena_destroy(arena);
    return outcome;
}

static bool parse(struct source *source, visitor visit, void *user, uint64_t *damaged_at,
                  struct pm_error *error)
{
    *damaged_at = UINT64_MAX;
    uint32_t flags;
    if (!check_header(source, &flags, error))
        return false;
    struct pm_buffer record;
    pm_buffer_init(&record, pm_profile_limits_default.decompressed_bytes + PM_SPOOL_RECORD_HEADER);
    enum outcome outcome;
    uint64_t start;
    do {
        start = source->at;
        outcome = next_record(source, &record, error);
        if (outcome == RECORD)
            outcome = visit_record(&record, start, visit, user, error);
    } while (outcome == RECORD);
    pm_buffer_finish(&record);
    if (outcome == DAMAGED)
        *damaged_at = start;
    return outcome != FAILED;
}

bool pm_spool_parse(const void *data, size_t size, visitor visit, void *user, uint64_t *damaged_at,
                    struct pm_error *error)
{
    struct source source = {.fd = -1, .data = data, .left = size};
    return parse(&source, visit, user, damaged_at, error);
}

bool pm_spool_read(const char *path, visitor visit, void *user, uint64_t *damaged_at,
                   struct pm_error *error)
{
    *damaged_at = UINT64_MAX;
    struct source source = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (source.fd < 0)
        return pm_fail_errno(error, errno, "%s: cannot open", path);
    bool done = parse(&source, visit, user, damaged_at, error);
    close(source.fd);
    if (!done || *damaged_at != UINT64_MAX)
        pm_fail_prefix(error, "%s", path);
    return done;
}

bool pm_spool_is_withheld(const char *path)
{
    struct source source = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    uint32_t flags;
    if (source.fd < 0)
        return true;
    bool withheld = !check_header(&source, &flags, NULL) || flags == PM_SPOOL_WITHHELD;
    close(source.fd);
    return withheld;
}
