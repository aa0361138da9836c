#include "aggregator/intake/samples.h"

#include <string.h>

/* Of a shader: what is said of it. */
enum { HAS_BITMAP = 1, HAS_LEFT_OUT = 2 };

/* Of a point: what need not be said. */
enum sample_flag {
    SAME_BATCH = 1,      /* calls, entry lanes and entry subgroups are those of the point before */
    NOTHING = 2,         /* all counts are 0 */
    FIRST_IS_ENTRY = 4,  /* counts[0] is the entry lanes */
    SECOND_IS_FIRST = 8, /* counts[1] is counts[0] */
    SECOND_IS_0 = 16,
    THIRD_IS_ENTRY = 32, /* counts[2] is the entry subgroups */
    THIRD_IS_0 = 64,
    HAS_ALONE = 128, /* lanes were counted alone; of how many more is known follows */
};

enum {
    VARINT_MOST = 10,
    POINT_MOST = 1 + 8 * VARINT_MOST, /* bytes of an encoded point */
    POINT_LEAST = 2,
};

unsigned pm_sample_part(const struct pm_shader_key *key)
{
    return key->bytes[0] % PM_SAMPLE_PARTS;
}

unsigned pm_sample_part_of_day(unsigned part, uint32_t day)
{
    return PM_SAMPLE_DAY_PARTS * (day + 1) + part;
}

bool pm_sample_part_has_marks(unsigned part, uint32_t *day, unsigned *of)
{
    if (part < PM_SAMPLE_DAY_PARTS)
        return false;
    *day = part / PM_SAMPLE_DAY_PARTS - 1;
    *of = part % PM_SAMPLE_DAY_PARTS;
    return true;
}

/* ---- writing ---- */

static uint8_t *put_varint(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static bool append_varint(struct pm_buffer *out, uint64_t value)
{
    uint8_t bytes[VARINT_MOST];
    return pm_buffer_append(out, bytes, (size_t)(put_varint(bytes, value) - bytes));
}

static bool same_head(const struct pm_shader_profile *a, const struct pm_shader_profile *b)
{
    return a->kind == b->kind && a->flags == b->flags &&
           memcmp(&a->environment, &b->environment, sizeof(a->environment)) == 0;
}

static bool append_head(struct pm_buffer *out, const char *scene,
                        const struct pm_shader_profile *shader,
                        const struct pm_shader_profile *before)
{
    const struct pm_environment *environment = &shader->environment;
    const uint64_t fields[] = {(uint64_t)shader->kind,      shader->flags,
                               environment->subgroup_size,  environment->vendor_id,
                               environment->device_id,      environment->driver_id,
                               environment->driver_version, strlen(scene)};
    const uint8_t same = before && same_head(before, shader);
    if (!pm_buffer_append(out, shader->key.bytes, PM_SHADER_KEY_BYTES) ||
        !pm_buffer_append(out, &same, 1))
        return false;
    for (size_t i = 0; !same && i < sizeof(fields) / sizeof(*fields); i++) {
        if (!append_varint(out, fields[i]))
            return false;
    }
    const bool bitmap = shader->at_most_once != NULL, candidates = shader->candidates != 0;
    const uint8_t said = (uint8_t)((bitmap ? HAS_BITMAP : 0) | (candidates ? HAS_LEFT_OUT : 0));
    return (same || pm_buffer_append(out, scene, strlen(scene))) &&
           append_varint(out, shader->space) && pm_buffer_append(out, &said, 1) &&
           (!bitmap ||
            pm_buffer_append(out, shader->at_most_once, ((size_t)shader->space + 7) / 8)) &&
           (!candidates || append_varint(out, shader->candidates - shader->space)) &&
           append_varint(out, shader->point_count);
}

static uint8_t flags_of(const struct pm_point_counts *point, const struct pm_point_counts *before)
{
    const uint64_t *counts = point->counts;
    unsigned flags = 0;
    if (before && point->calls == before->calls && point->entry_lanes == before->entry_lanes &&
        point->entry_subgroups == before->entry_subgroups)
        flags |= SAME_BATCH;
    if ((counts[0] | counts[1] | counts[2]) == 0)
        return (uint8_t)(flags | NOTHING);
    if (counts[0] == point->entry_lanes)
        flags |= FIRST_IS_ENTRY;
    if (counts[1] == counts[0])
        flags |= SECOND_IS_FIRST;
    else if (counts[1] == 0)
        flags |= SECOND_IS_0;
    if (counts[2] == point->entry_subgroups)
        flags |= THIRD_IS_ENTRY;
    else if (counts[2] == 0)
        flags |= THIRD_IS_0;
    if (point->lanes_alone > 0)
        flags |= HAS_ALONE;
    return (uint8_t)flags;
}

static bool append_point(struct pm_buffer *out, const struct pm_point_counts *point,
                         const struct pm_point_counts *before)
{
    uint8_t bytes[POINT_MOST], *at = bytes;
    const uint8_t flags = flags_of(point, before);
    at = put_varint(at, before ? (uint32_t)(point->point - before->point - 1) : point->point);
    *at++ = flags;
    if ((flags & SAME_BATCH) == 0) {
        at = put_varint(at, point->calls);
        at = put_varint(at, point->entry_lanes);
        at = put_varint(at, point->entry_subgroups);
    }
    if ((flags & (NOTHING | FIRST_IS_ENTRY)) == 0)
        at = put_varint(at, point->counts[0]);
    if ((flags & (NOTHING | SECOND_IS_FIRST | SECOND_IS_0)) == 0)
        at = put_varint(at, point->counts[1]);
    if ((flags & (NOTHING | THIRD_IS_ENTRY | THIRD_IS_0)) == 0)
        at = put_varint(at, point->counts[2]);
    if ((flags & HAS_ALONE) != 0)
        at = put_varint(at, pm_point_lanes_known(point));
    return pm_buffer_append(out, bytes, (size_t)(at - bytes));
}

bool pm_sample_append(struct pm_buffer *out, const char *scene,
                      const struct pm_shader_profile *shader,
                      const struct pm_shader_profile *before)
{
    /* Its size is written last, over as many bytes as it may take. */
    static const uint8_t room[VARINT_MOST];
    const size_t start = out->size;
    uint8_t size[VARINT_MOST];
    if (!pm_buffer_append(out, room, sizeof(room)) || !append_head(out, scene, shader, before))
        return false;
    for (size_t i = 0; i < shader->point_count; i++) {
        if (!append_point(out, &shader->points[i], i > 0 ? &shader->points[i - 1] : NULL))
            return false;
    }
    const size_t content = out->size - start - sizeof(room);
    const size_t taken = (size_t)(put_varint(size, content) - size);
    memcpy(out->data + start, size, taken);
    memmove(out->data + start + taken, out->data + start + sizeof(room), content);
    out->size = start + taken + content;
    return true;
}

bool pm_sample_append_mark(struct pm_buffer *out, const uint8_t mark[static PM_SAMPLE_MARK_BYTES])
{
    return append_varint(out, PM_SAMPLE_MARK_BYTES) &&
           pm_buffer_append(out, mark, PM_SAMPLE_MARK_BYTES);
}

/* ---- reading ---- */

struct cursor {
    const uint8_t *at, *end;
    bool damaged;
};

static uint64_t take_varint(struct cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
        const uint8_t byte = *cursor->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    cursor->damaged = true;
    return 0;
}

/* Never NULL. */
static const uint8_t *take(struct cursor *cursor, uint64_t size)
{
    static const uint8_t nothing[PM_SHADER_KEY_BYTES];
    const uint8_t *bytes = cursor->at;
    if (size > (uint64_t)(cursor->end - cursor->at)) {
        cursor->damaged = true;
        return nothing;
    }
    cursor->at += size;
    return bytes;
}

static uint32_t take_32(struct cursor *cursor)
{
    const uint64_t value = take_varint(cursor);
    cursor->damaged = cursor->damaged || value > UINT32_MAX;
    return (uint32_t)value;
}

static void take_head(struct cursor *cursor, bool first, struct pm_sample *sample)
{
    struct pm_shader_profile *shader = &sample->shader;
    memcpy(shader->key.bytes, take(cursor, PM_SHADER_KEY_BYTES), PM_SHADER_KEY_BYTES);
    const bool same = *take(cursor, 1) != 0;
    cursor->damaged = cursor->damaged || (same && first);
    if (!same) {
        shader->kind = (enum pm_kind)take_32(cursor);
        shader->flags = take_32(cursor);
        shader->environment.subgroup_size = take_32(cursor);
        shader->environment.vendor_id = take_32(cursor);
        shader->environment.device_id = take_32(cursor);
        shader->environment.driver_id = take_32(cursor);
        shader->environment.driver_version = take_32(cursor);
        sample->scene_size = take_32(cursor);
        sample->scene = (const char *)take(cursor, sample->scene_size);
    }
    shader->space = take_32(cursor);
    const uint8_t said = *take(cursor, 1);
    cursor->damaged = cursor->damaged || (said & ~(HAS_BITMAP | HAS_LEFT_OUT)) != 0;
    shader->at_most_once =
        (said & HAS_BITMAP) != 0 ? take(cursor, ((uint64_t)shader->space + 7) / 8) : NULL;
    shader->candidates = 0;
    if ((said & HAS_LEFT_OUT) != 0)
        shader->candidates = shader->space + take_32(cursor);
    shader->point_count = take_32(cursor);
}

void pm_sample_reader_init(struct pm_sample_reader *reader, const void *data, size_t size)
{
    *reader = (struct pm_sample_reader){.data = data, .size = size, .whole = true};
}

/* Reads the marks that stand before the next sample, of which the last is its. One without samples
 * is left where a shader was forgotten by a version that kept its marks. */
static void next_mark(struct pm_sample_reader *reader)
{
    while (reader->size - reader->at > PM_SAMPLE_MARK_BYTES &&
           reader->data[reader->at] == PM_SAMPLE_MARK_BYTES) {
        reader->mark = reader->data + reader->at + 1;
        reader->at += 1 + PM_SAMPLE_MARK_BYTES;
        reader->whole = true;
    }
}

bool pm_sample_next(struct pm_sample_reader *reader, bool *end, struct pm_error *error)
{
    struct pm_sample *sample = &reader->sample;
    next_mark(reader);
    *end = reader->at == reader->size;
    if (*end)
        return true;
    struct cursor cursor = {reader->data + reader->at, reader->data + reader->size, false};
    const uint64_t size = take_varint(&cursor);
    struct cursor inside = {cursor.at, cursor.at, false};
    take(&cursor, size);
    inside.end = cursor.at;
    take_head(&inside, reader->whole, sample);
    reader->whole = false;
    sample->points = inside.at;
    sample->points_size = (size_t)(inside.end - inside.at);
    if (cursor.damaged || inside.damaged ||
        sample->shader.point_count > sample->points_size / POINT_LEAST)
        return pm_fail(error, PM_ERROR_INPUT, "a sample that waits is damaged at byte %zu",
                       reader->at);
    reader->at = (size_t)(cursor.at - reader->data);
    return true;
}

static void take_point(struct cursor *cursor, const struct pm_point_counts *before,
                       struct pm_point_counts *point)
{
    const uint32_t step = take_32(cursor);
    const uint8_t flags = *take(cursor, 1);
    point->point = before ? before->point + 1 + step : step;
    if ((flags & SAME_BATCH) != 0 && before) {
        point->calls = before->calls;
        point->entry_lanes = before->entry_lanes;
        point->entry_subgroups = before->entry_subgroups;
    } else {
        point->calls = take_32(cursor);
        point->entry_lanes = take_varint(cursor);
        point->entry_subgroups = take_varint(cursor);
    }
    uint64_t *counts = point->counts;
    counts[0] = counts[1] = counts[2] = point->lanes_alone = 0;
    if ((flags & NOTHING) != 0)
        return;
    counts[0] = (flags & FIRST_IS_ENTRY) != 0 ? point->entry_lanes : take_varint(cursor);
    if ((flags & SECOND_IS_FIRST) != 0)
        counts[1] = counts[0];
    else if ((flags & SECOND_IS_0) == 0)
        counts[1] = take_varint(cursor);
    if ((flags & THIRD_IS_ENTRY) != 0)
        counts[2] = point->entry_subgroups;
    else if ((flags & THIRD_IS_0) == 0)
        counts[2] = take_varint(cursor);
    if ((flags & HAS_ALONE) != 0) {
        const uint64_t known = take_varint(cursor);
        cursor->damaged = cursor->damaged || known >= counts[0];
        point->lanes_alone = counts[0] - known;
    }
}

bool pm_sample_points(const struct pm_sample *sample, struct pm_point_counts *out,
                      struct pm_error *error)
{
    struct cursor cursor = {sample->points, sample->points + sample->points_size, false};
    for (size_t i = 0; i < sample->shader.point_count; i++)
        take_point(&cursor, i > 0 ? &out[i - 1] : NULL, &out[i]);
    if (cursor.damaged || cursor.at != cursor.end)
        return pm_fail(error, PM_ERROR_INPUT, "a sample that waits has damaged points");
    return true;
}
