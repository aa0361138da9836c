#include "tools/export/fossilize_file.h"

#include "base/buffer.h"
#include "profile/fossilize.h"
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

enum { DEFLATED = 2, LONGEST_WORD = 5 /* bytes */ };

/* Of what is deflated: far more than any shader's. */
#define MOST_BYTES ((size_t)256 << 20)

struct pm_fossilize_name {
    enum pm_fossilize_tag tag;
    uint64_t hash;
};

void pm_fossilize_begin(struct pm_fossilize_file *file, FILE *out)
{
    static const unsigned char head[16] = {
        0x81, 'F', 'O', 'S', 'S', 'I', 'L', 'I', 'Z', 'E', 'D', 'B', 0, 0, 0, PM_FOSSILIZE_VERSION};
    *file = (struct pm_fossilize_file){.out = out};
    fwrite(head, 1, sizeof head, out);
}

void pm_fossilize_finish(struct pm_fossilize_file *file)
{
    free(file->names);
}

/* Seven bits a byte, the lowest first; the highest bit says that there are more. */
static bool append_words(struct pm_buffer *out, const uint32_t *words, size_t count)
{
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        unsigned char bytes[LONGEST_WORD];
        size_t size = 0;
        uint32_t rest = words[i];
        for (; rest > 0x7F; rest >>= 7)
            bytes[size++] = (unsigned char)(rest | 0x80);
        bytes[size++] = (unsigned char)rest;
        ok = pm_buffer_append(out, bytes, size);
    }
    return ok;
}

static size_t size_of(const uint32_t *words, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t rest = words[i]; size++, rest > 0x7F;)
            rest >>= 7;
    return size;
}

static bool make_payload(uint64_t hash, const uint32_t *words, size_t count,
                         struct pm_buffer *payload)
{
    return pm_buffer_printf(payload,
                            "{\"version\":%d,\"shaderModules\":{\"%016" PRIx64
                            "\":{\"varintOffset\":0,\"varintSize\":%zu,\"codeSize\":%zu,"
                            "\"flags\":0}}}",
                            PM_FOSSILIZE_VERSION, hash, size_of(words, count),
                            count * sizeof *words) &&
           pm_buffer_append(payload, "", 1) && append_words(payload, words, count);
}

static void put_number(FILE *out, uint64_t number)
{
    for (int i = 0; i < 4; i++)
        putc((int)(number >> 8 * i & 0xFF), out);
}

static bool write_entry(FILE *out, enum pm_fossilize_tag tag, uint64_t hash,
                        const struct pm_buffer *payload, struct pm_error *error)
{
    uLongf size = compressBound((uLong)payload->size);
    unsigned char *stored = malloc(size);
    if (!stored ||
        compress2(stored, &size, payload->data, (uLong)payload->size, Z_BEST_COMPRESSION) != Z_OK) {
        free(stored);
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a Fossilize entry");
    }
    fprintf(out, "%024x%016" PRIx64, tag, hash);
    put_number(out, size);
    put_number(out, DEFLATED);
    put_number(out, crc32(crc32(0, NULL, 0), stored, (uInt)size));
    put_number(out, payload->size);
    fwrite(stored, 1, size, out);
    free(stored);
    return true;
}

static bool is_there(const struct pm_fossilize_file *file, enum pm_fossilize_tag tag, uint64_t hash)
{
    size_t i = 0;
    while (i < file->count && (file->names[i].hash != hash || file->names[i].tag != tag))
        i++;
    return i < file->count;
}

static bool remember(struct pm_fossilize_file *file, enum pm_fossilize_tag tag, uint64_t hash,
                     struct pm_error *error)
{
    if (file->count == file->capacity) {
        const size_t capacity = file->capacity ? 2 * file->capacity : 64;
        struct pm_fossilize_name *names = realloc(file->names, capacity * sizeof *names);
        if (!names)
            return pm_fail(error, PM_ERROR_MEMORY, "no memory for a Fossilize database");
        file->names = names;
        file->capacity = capacity;
    }
    file->names[file->count++] = (struct pm_fossilize_name){tag, hash};
    return true;
}

bool pm_fossilize_module(struct pm_fossilize_file *file, const uint32_t *words, size_t count,
                         uint64_t *hash, struct pm_error *error)
{
    struct pm_buffer payload;
    *hash = pm_fossilize_hash_module(words, count);
    if (is_there(file, PM_FOSSILIZE_MODULE, *hash))
        return true;
    pm_buffer_init(&payload, MOST_BYTES);
    const bool ok = (make_payload(*hash, words, count, &payload) ||
                     pm_fail(error, PM_ERROR_LIMIT, "a shader module is too large")) &&
                    remember(file, PM_FOSSILIZE_MODULE, *hash, error) &&
                    write_entry(file->out, PM_FOSSILIZE_MODULE, *hash, &payload, error);
    pm_buffer_finish(&payload);
    return ok;
}

bool pm_fossilize_object(struct pm_fossilize_file *file, enum pm_fossilize_tag tag,
                         const char *section, uint64_t hash, const char *text,
                         struct pm_error *error)
{
    struct pm_buffer payload;
    if (is_there(file, tag, hash))
        return true;
    pm_buffer_init(&payload, MOST_BYTES);
    const bool ok = (pm_buffer_printf(&payload, "{\"version\":%d,\"%s\":{\"%016" PRIx64 "\":%s}}",
                                      PM_FOSSILIZE_VERSION, section, hash, text) ||
                     pm_fail(error, PM_ERROR_LIMIT, "a pipeline's state is too large")) &&
                    remember(file, tag, hash, error) &&
                    write_entry(file->out, tag, hash, &payload, error);
    pm_buffer_finish(&payload);
    return ok;
}
