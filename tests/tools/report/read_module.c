#include "tests/tools/report/read_module.h"

#include "base/file.h"
#include "tests/cmocka_includes.h"
#include <stdlib.h>
#include <string.h>

void read_module(const char *path, struct pm_words *words)
{
    struct pm_buffer bytes;
    struct pm_error error = {0};
    pm_buffer_init(&bytes, 1 << 20);
    assert_true(pm_file_read(path, &bytes, &error));
    words->count = bytes.size / 4;
    words->data = malloc(bytes.size);
    assert_non_null(words->data);
    memcpy(words->data, bytes.data, bytes.size);
    pm_buffer_finish(&bytes);
}
