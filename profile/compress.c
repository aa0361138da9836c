#include "profile/profile.h"
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* Level 3 is zstd's default; higher ones gain about 3 % on profiles and cost several times the
 * time. */
enum { LEVEL = 3, CHUNK = 1 << 16, SMALL = 1 << 20 /* bytes */ };

bool pm_compress(const void *data, size_t size, struct pm_buffer *out, struct pm_error *error)
{
    return pm_compress_against(NULL, 0, data, size, out, error);
}

bool pm_compress_against(const void *like, size_t like_size, const void *data, size_t size,
                         struct pm_buffer *out, struct pm_error *error)
{
    size_t bound = ZSTD_compressBound(size);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    void *packed = ZSTD_isError(bound) ? NULL : malloc(bound);
    bool compressed = false;
    if (!context || !packed) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for compressing %zu bytes", size);
    } else {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        ZSTD_CCtx_refPrefix(context, like, like_size);
        size_t n = ZSTD_compress2(context, packed, bound, data, size);
        if (ZSTD_isError(n))
            pm_fail(error, PM_ERROR_MEMORY, "cannot compress %zu bytes: %s", size,
                    ZSTD_getErrorName(n));
        else if (!pm_buffer_append(out, packed, n))
            pm_fail(error, PM_ERROR_MEMORY, "no room for %zu compressed bytes", n);
        else
            compressed = true;
    }
    free(packed);
    ZSTD_freeCCtx(context);
    return compressed;
}

/* The logarithm of the largest window a frame may ask for: what fits into `most` bytes needs no
 * larger one. */
static int window_log(size_t most)
{
    int log = 10; /* zstd's smallest */
    while (log < 27 && ((size_t)1 << log) < most)
        log++;
    return log;
}

static bool stream(ZSTD_DCtx *context, const void *data, size_t size, unsigned char *chunk,
                   struct pm_buffer *out, struct pm_error *error)
{
    ZSTD_inBuffer in = {data, size, 0};
    for (;;) {
        ZSTD_outBuffer step = {chunk, CHUNK, 0};
        size_t before = in.pos;
        size_t hint = ZSTD_decompressStream(context, &step, &in);
        if (ZSTD_isError(hint))
            return pm_fail(error, PM_ERROR_INPUT, "compressed byte %zu: %s", in.pos,
                           ZSTD_getErrorName(hint));
        if (step.pos > out->cap - out->size)
            return pm_fail(error, PM_ERROR_LIMIT, "decompresses to more than %zu bytes", out->cap);
        if (!pm_buffer_append(out, chunk, step.pos))
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for decompressing");
        if (hint == 0)
            break;
        if (in.pos == before && step.pos == 0)
            return pm_fail(error, PM_ERROR_INPUT, "compressed byte %zu: the frame is cut off",
                           in.pos);
    }
    if (in.pos != size)
        return pm_fail(error, PM_ERROR_INPUT, "compressed byte %zu: more follows the frame",
                       in.pos);
    return true;
}

/* What is small, and says how small, in one step. false: it is not, or it is damaged, which stream
 * then tells. */
static bool at_once(ZSTD_DCtx *context, const void *data, size_t size, struct pm_buffer *out)
{
    const unsigned long long content = ZSTD_getFrameContentSize(data, size);
    if (content == 0 || content > SMALL || content > out->cap - out->size ||
        ZSTD_findFrameCompressedSize(data, size) != size)
        return false;
    unsigned char *bytes = malloc((size_t)content);
    const bool done =
        bytes &&
        ZSTD_decompressDCtx(context, bytes, (size_t)content, data, size) == (size_t)content &&
        pm_buffer_append(out, bytes, (size_t)content);
    free(bytes);
    return done;
}

bool pm_decompress(const void *data, size_t size, struct pm_buffer *out, struct pm_error *error)
{
    return pm_decompress_against(NULL, 0, data, size, out, error);
}

bool pm_decompress_against(const void *like, size_t like_size, const void *data, size_t size,
                           struct pm_buffer *out, struct pm_error *error)
{
    static const unsigned char magic[4] = {0x28, 0xB5, 0x2F, 0xFD};
    if (size < sizeof(magic) || memcmp(data, magic, sizeof(magic)) != 0)
        return pm_fail(error, PM_ERROR_INPUT, "compressed byte 0: no zstd frame begins here");
    size_t start = out->size;
    ZSTD_DCtx *context = ZSTD_createDCtx();
    unsigned char *chunk = malloc(CHUNK);
    bool done = false;
    if (!context || !chunk) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory for decompressing");
    } else {
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, window_log(out->cap - start));
        ZSTD_DCtx_refPrefix(context, like, like_size); /* of one frame */
        done = at_once(context, data, size, out);
        if (!done) {
            ZSTD_DCtx_reset(context, ZSTD_reset_session_only);
            ZSTD_DCtx_refPrefix(context, like, like_size);
            done = stream(context, data, size, chunk, out, error);
        }
    }
    if (!done && out->data) {
        out->size = start;
        out->data[start] = 0;
    }
    free(chunk);
    ZSTD_freeDCtx(context);
    return done;
}
