/* Runs the kept inputs of a fuzz target, every cut of each, and every input with each byte changed
 * in a few ways; quickly (tests/all.h) at one byte in QUICK_STEP. With a folder as its argument it
 * writes them there instead: the corpus that a fuzzer starts from. */
#include "tests/all.h"
#include "tests/fuzz/fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef QUICK_STEP
#define QUICK_STEP 1
#endif

/* On the heap and no larger than it is, so that the sanitizer sees a read beyond. */
static void run(const unsigned char *data, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    if (size > 0)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void write_input(const char *folder, size_t index, const struct pm_fuzz_input *input)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/input-%zu", folder, index);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(input->data, 1, input->size, file) != input->size || fclose(file) != 0)
        abort();
}

int main(int argc, char **argv)
{
    enum { MOST = 1 << 14 };
    static unsigned char bytes[MOST];
    size_t count = 0;
    for (const struct pm_fuzz_input *input = pm_fuzz_inputs; input->data; input++, count++) {
        if (argc > 1) {
            write_input(argv[1], count, input);
            continue;
        }
        if (input->size > MOST)
            abort();
        memcpy(bytes, input->data, input->size);
        run(bytes, input->size);
        const size_t step = pm_test_all() ? 1 : QUICK_STEP;
        for (size_t at = count % step; at < input->size; at += step) {
            unsigned char old = bytes[at];
            static const unsigned char changes[] = {0x01, 0x80, 0xFF};
            run(bytes, at);
            for (size_t i = 0; i < sizeof(changes); i++) {
                bytes[at] = (unsigned char)(old ^ changes[i]);
                run(bytes, input->size);
            }
            bytes[at] = old;
        }
    }
    printf("%zu inputs\n", count);
    return count > 0 ? 0 : 1;
}
