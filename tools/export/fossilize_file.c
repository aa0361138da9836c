#include "tools/export/fossilize_file.h"

#include "base/buffer.h"
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

enum { SHADER_MODULE = 4, VERSION = 6, DEFLATED = 2, LONGEST_WORD = 5 /* bytes */ };

/* Of a module that is deflated: far more than any shader's. */
#define MOST_BYTES ((size_t)256 << 20)

void pm_fossilize_begin(struct pm_fossilize_file *file, FILE *out)
{
    static const unsigned char head[16] = {0x81, 'F', 'O', 'S', 'S', 'I', 'L', 'I',
                                           'Z',  'E', 'D', 'B', 0,   0,   0,   VERSION};
    *file = (struct pm_fossilize_file){.out = out};
    fwrite(head, 1, sizeof head, out);
}

void pm_fossilize_finish(struct pm_fossilize_file *file)
{
    free(file->hashes);
}

/* As Fossilize's own hasher: FNV-1 over whole words, then the module's flags, of which there are
 * none. */
static uint64_t hash_of(const uint32_t *words, size_t count)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash * prime) ^ words[i];
    return hash * prime;
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
                            VERSION, hash, size_of(words, count), count * sizeof *words) &&
           pm_buffer_append(payload, "", 1) && append_words(payload, words, count);
}

static void put_number(FILE *out, uint64_t number)
{
    for (int i = 0; i < 4; i++)
        putc((int)(number >> 8 * i & 0xFF), out);
}

static bool write_entry(FILE *out, uint64_t hash, const struct pm_buffer *payload,
                        struct pm_error *error)
{
    uLongf size = compressBound((uLong)payload->size);
    unsigned char *stored = malloc(size);
    if (!stored ||
        compress2(stored, &size, payload->data, (uLong)payload->size, Z_BEST_COMPRESSION) != Z_OK) {
        free(stored);
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a shader module");
    }
    fprintf(out, "%024x%016" PRIx64, SHADER_MODULE, hash);
    put_number(out, size);
    put_number(out, DEFLATED);
    put_number(out, crc32(crc32(0, NULL, 0), stored, (uInt)size));
    put_number(out, payload->size);
    fwrite(stored, 1, size, out);
    free(stored);
    return true;
}

static bool is_there(const struct pm_fossilize_file *file, uint64_t hash)
{
    size_t i = 0;
    while (i < file->count && file->hashes[i] != hash)
        i++;
    return i < file->count;
}

static bool remember(struct pm_fossilize_file *file, uint64_t hash, struct pm_error *error)
{
    if (file->count == file->capacity) {
        const size_t capacity = file->capacity ? 2 * file->capacity : 64;
        uint64_t *hashes = realloc(file->hashes, capacity * sizeof *hashes);
        if (!hashes)
            return pm_fail(error, PM_ERROR_MEMORY, "no memory for shader modules");
        file->hashes = hashes;
        file->capacity = capacity;
    }
    file->hashes[file->count++] = hash;
    return true;
}

bool pm_fossilize_module(struct pm_fossilize_file *file, const uint32_t *words, size_t count,
                         uint64_t *hash, struct pm_error *error)
{
    struct pm_buffer payload;
    *hash = hash_of(words, count);
    if (is_there(file, *hash))
        return true;
    pm_buffer_init(&payload, MOST_BYTES);
    const bool ok = (make_payload(*hash, words, count, &payload) ||
                     pm_fail(error, PM_ERROR_LIMIT, "a shader module is too large")) &&
                    remember(file, *hash, error) && write_entry(file->out, *hash, &payload, error);
    pm_buffer_finish(&payload);
    return ok;
}
