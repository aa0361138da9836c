/*
 * scalarize: a build-time tool. Reads a SPIR-V module, writes its scalarized form (scalarize.h) as
 * a module, and as a C header with the words in an array.
 *
 * usage: scalarize fragment|compute IN.spv OUT.spv NAME OUT.h
 */
#include "base/file.h"
#include "examples/scalarize/scalarize.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20 };

static bool write_header(const char *path, const char *name, const struct pm_words *words,
                         struct pm_error *error)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return pm_fail_errno(error, errno, "%s", path);
    fprintf(file, "#pragma once\nconst uint32_t %s[] = {", name);
    for (size_t i = 0; i < words->count; i++)
        fprintf(file, "%s0x%08x,", i % 8 ? " " : "\n    ", words->data[i]);
    fputs("\n};\n", file);
    const bool written = !ferror(file);
    if (fclose(file) == 0 && written)
        return true;
    return pm_fail_errno(error, errno, "%s", path);
}

static bool run(char **argv, struct pm_error *error)
{
    const enum pm_stage stage = strcmp(argv[1], "compute") ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE;
    struct pm_buffer in;
    struct pm_words out = {0};
    pm_buffer_init(&in, MOST_BYTES);
    const bool done =
        pm_file_read(argv[2], &in, error) &&
        pm_scalarize((const uint32_t *)(const void *)in.data, in.size / 4, stage, &out, error) &&
        pm_file_write(argv[3], out.data, out.count * 4, error) &&
        write_header(argv[5], argv[4], &out, error);
    pm_words_finish(&out);
    pm_buffer_finish(&in);
    return done;
}

int main(int argc, char **argv)
{
    struct pm_error error = {0};
    if (argc != 6) {
        fputs("usage: scalarize fragment|compute IN.spv OUT.spv NAME OUT.h\n", stderr);
        return 2;
    }
    if (run(argv, &error))
        return 0;
    fprintf(stderr, "scalarize: %s: %s\n", argv[2], error.message);
    return 1;
}
