/*
 * What an upload said of a shader, as it waits in the storage to be folded into the shader's
 * statistics: the checked counts themselves, small and quickly read. Where many come at once, a
 * shader's samples go to one of PM_SAMPLE_PARTS parts of its game, so that folding a part reads and
 * writes few blobs.
 *
 * Layout of a sample (varint: LEB128): varint bytes of the rest; 24 bytes key; a byte, 1 when what
 * follows is as in the sample before and left out, else 0 and varint kind, flags, the five fields
 * of the environment, the scene's size and bytes; varint space; a byte, plus 1 when (space + 7) / 8
 * bytes of the bitmap of what runs at most once follow, plus 2 when then a varint follows of how
 * many candidates are left out (else it is not known); varint number of points, and for
 * each: varint (index minus the one before minus 1, modulo 2^32; the first: index), a byte of
 * enum sample_flag in samples.c, and as varints what it does not tell of calls, entry lanes, entry
 * subgroups and counts, and where some of the lanes were counted alone, of how many more is known.
 * Samples stand one behind the other; the first has nothing left out.
 *
 * What has a token waits under its mark of the day (sources.h) until the day has ended, and then
 * becomes one cluster (fold_day.h). Such samples are in parts of their own, PM_SAMPLE_DAY_PARTS for
 * each day. A mark stands before its samples, as varint PM_SAMPLE_MARK_BYTES and so many bytes,
 * which no sample is as short as; the first sample behind it has nothing left out.
 *
 * Thread safety: a struct belongs to one thread at a time; the functions keep no state.
 */
#pragma once

#include "profile/profile.h"

#define PM_SAMPLE_PARTS 16u
/* And one for rows that are too small to be split: samples of any shader. */
#define PM_SAMPLE_MIXED PM_SAMPLE_PARTS
#define PM_SAMPLE_DAY_PARTS (PM_SAMPLE_MIXED + 1)
#define PM_SAMPLE_MARK_BYTES 8

/* By the key alone. */
unsigned pm_sample_part(const struct pm_shader_key *key);
/* The part (up to PM_SAMPLE_MIXED) of what waits under marks of the day. */
unsigned pm_sample_part_of_day(unsigned part, uint32_t day);
/* Is it such a part? Then *day is its day and *of the part of it. */
bool pm_sample_part_has_marks(unsigned part, uint32_t *day, unsigned *of);

bool pm_sample_append_mark(struct pm_buffer *out, const uint8_t mark[static PM_SAMPLE_MARK_BYTES]);

/* Appends the shader's sample. before: the one of the same profile that was appended last, NULL for
 * the first. false: out of memory, or above the buffer's cap. */
bool pm_sample_append(struct pm_buffer *out, const char *scene,
                      const struct pm_shader_profile *shader,
                      const struct pm_shader_profile *before);

/* One sample while it is read. The pointers are into what is read. */
struct pm_sample {
    struct pm_shader_profile shader; /* point_count is right, points is NULL */
    const char *scene;               /* scene_size bytes, without a terminator */
    size_t scene_size;
    const uint8_t *points; /* encoded */
    size_t points_size;
};

struct pm_sample_reader {
    const uint8_t *data;
    size_t size, at;
    const uint8_t *mark;     /* the last sample's; NULL: it has none */
    bool whole;              /* the next one may leave nothing out */
    struct pm_sample sample; /* the one that was read last */
};

void pm_sample_reader_init(struct pm_sample_reader *reader, const void *data, size_t size);

/* Reads the next one into reader->sample. *end: there is none. false: PM_ERROR_INPUT, the data is
 * damaged; the message names the byte. */
bool pm_sample_next(struct pm_sample_reader *reader, bool *end, struct pm_error *error);

/* Writes the sample's points, shader.point_count of them. */
bool pm_sample_points(const struct pm_sample *sample, struct pm_point_counts *out,
                      struct pm_error *error);
