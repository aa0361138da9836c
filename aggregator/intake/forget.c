#include "aggregator/intake/forget.h"

#include "aggregator/intake/damaged.h"
#include "aggregator/intake/samples.h"

#include <stdlib.h>
#include <string.h>

struct forget {
    struct pm_storage *storage;
    const struct pm_shader_key *key;
    struct pm_arena *arena; /* scenes' names */
    struct pm_buffer rows;  /* that were read: uint64_t each */
    struct pm_buffer left;  /* of the row that is rewritten */
    const uint8_t *mark;    /* of the samples that were kept last; NULL: none */
    uint64_t forgotten;     /* samples */
};

/* Before the first sample that is kept under it. */
static bool keep_mark(struct forget *forget, const uint8_t *mark, struct pm_error *error)
{
    const bool known = mark == forget->mark;
    forget->mark = mark;
    return known || pm_sample_append_mark(&forget->left, mark) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory for samples");
}

/* Appends the sample as it was. */
static bool keep(struct forget *forget, const struct pm_sample *sample, struct pm_error *error)
{
    struct pm_shader_profile shader = sample->shader;
    struct pm_point_counts *points = calloc((size_t)shader.point_count + 1, sizeof(*points));
    char *scene = pm_arena_zalloc(forget->arena, sample->scene_size + 1, 1);
    bool done = (points && scene) || pm_fail(error, PM_ERROR_MEMORY, "out of memory for a sample");
    done = done && pm_sample_points(sample, points, error);
    if (done) {
        memcpy(scene, sample->scene, sample->scene_size);
        shader.points = points;
        done = pm_sample_append(&forget->left, scene, &shader, NULL) ||
               pm_fail(error, PM_ERROR_MEMORY, "out of memory for samples");
    }
    free(points);
    return done;
}

static bool rewrite(void *user, const struct pm_storage_samples *row, struct pm_error *error)
{
    struct forget *forget = user;
    struct pm_storage *storage = forget->storage;
    struct pm_storage_samples rewritten = *row;
    struct pm_sample_reader reader;
    bool end = false;
    if (!pm_buffer_append(&forget->rows, &row->row, sizeof(row->row)))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for rows of samples");
    if (!pm_damaged_check(row, error))
        return pm_fail_prefix(error, PM_DAMAGED_REASON);
    forget->left.size = 0;
    forget->mark = NULL;
    pm_sample_reader_init(&reader, row->data, row->size);
    for (;;) {
        if (!pm_sample_next(&reader, &end, error))
            return false;
        if (end)
            break;
        if (pm_shader_key_equal(&reader.sample.shader.key, forget->key))
            forget->forgotten++;
        else if (!keep_mark(forget, reader.mark, error) || !keep(forget, &reader.sample, error))
            return false;
    }
    rewritten.data = forget->left.data;
    rewritten.size = forget->left.size;
    return rewritten.size == 0 || storage->operations->add_samples(storage, &rewritten, 1, error);
}

static bool forget_part(struct forget *forget, const char *game, unsigned part,
                        struct pm_error *error)
{
    struct pm_storage *storage = forget->storage;
    uint64_t deleted;
    /* What is added is not seen by what is read: it is not committed. */
    if (!storage->operations->read_samples(storage, game, part, SIZE_MAX, rewrite, forget, error))
        return false;
    const size_t rows = forget->rows.size / sizeof(uint64_t);
    if (!storage->operations->delete_samples(storage, game, part,
                                             (const uint64_t *)(const void *)forget->rows.data,
                                             rows, &deleted, error))
        return false;
    return deleted == rows ||
           pm_fail(error, PM_ERROR_CONFLICT, "what waits of \"%s\" is being folded in", game);
}

/* The parts of a game that may have samples of the shader. */
struct parts {
    const struct pm_shader_key *key;
    struct pm_buffer numbers; /* unsigned each */
};

static bool note_part(void *user, const char *game, unsigned part, uint64_t rows, uint64_t bytes,
                      struct pm_error *error)
{
    struct parts *parts = user;
    uint32_t day;
    unsigned of = part;
    (void)game;
    (void)rows;
    (void)bytes;
    pm_sample_part_has_marks(part, &day, &of);
    return (of != PM_SAMPLE_MIXED && of != pm_sample_part(parts->key)) ||
           pm_buffer_append(&parts->numbers, &part, sizeof(part)) ||
           pm_fail(error, PM_ERROR_MEMORY, "out of memory for parts");
}

bool pm_samples_forget(struct pm_storage *storage, const char *game,
                       const struct pm_shader_key *key, uint64_t *samples, struct pm_error *error)
{
    struct parts parts = {.key = key};
    *samples = 0;
    pm_buffer_init(&parts.numbers, (size_t)1 << 20);
    bool done = storage->operations->list_samples(storage, game, note_part, &parts, error);
    for (size_t at = 0; done && at < parts.numbers.size; at += sizeof(unsigned)) {
        struct forget forget = {.storage = storage, .key = key, .arena = pm_arena_create(0)};
        unsigned part;
        memcpy(&part, parts.numbers.data + at, sizeof(part));
        pm_buffer_init(&forget.left, (size_t)1 << 30);
        pm_buffer_init(&forget.rows, (size_t)1 << 30);
        done = (forget.arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory for samples")) &&
               forget_part(&forget, game, part, error);
        *samples += forget.forgotten;
        pm_buffer_finish(&forget.rows);
        pm_buffer_finish(&forget.left);
        pm_arena_destroy(forget.arena);
    }
    pm_buffer_finish(&parts.numbers);
    return done;
}
