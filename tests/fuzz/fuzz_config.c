/* Any bytes as a configuration: parsed or refused with a place, and refused without a trace. */
#include "base/config.h"
#include "base/json_text.h"
#include "tests/fuzz/fuzz.h"
#include <stdlib.h>
#include <string.h>

const struct pm_fuzz_input pm_fuzz_inputs[] = {
    PM_FUZZ_TEXT("{\"sampler\": {\"batch\": \"all\", \"kinds\": [\"block\"], \"seed\": "
                 "18446744073709551615}}"),
    PM_FUZZ_TEXT(
        "{\"game\": {\"name\": \"\\ud83d\\ude00\\u00e4\\n\"}, \"consent\": {\"upload\": false}}"),
    PM_FUZZ_TEXT("{\"sampler\": {\"api_probability\": 1e-3, \"window_probability\": 0.5E+0}}"),
    PM_FUZZ_TEXT("{\"optimize\": {\"float_zero\": \"allow\", \"zero\": true}, \"log\": {\"level\": "
                 "\"debug\"}}"),
    PM_FUZZ_TEXT("{\"$schema\": \"x\", \"limits\": {\"variants\": 0, \"variants\": 1}}"),
    PM_FUZZ_TEXT("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["),
    PM_FUZZ_TEXT(""),
    {NULL, 0},
};

/* "fuzz:LINE:COLUMN: ", within the text. */
static void check_place(const char *message, const char *text, size_t size)
{
    PM_FUZZ_CHECK(strncmp(message, "fuzz:", 5) == 0);
    char *end;
    unsigned long line = strtoul(message + 5, &end, 10), lines = 1;
    PM_FUZZ_CHECK(*end == ':' && line >= 1);
    unsigned long column = strtoul(end + 1, &end, 10);
    PM_FUZZ_CHECK(end[0] == ':' && end[1] == ' ' && end[2] != '\0' && column >= 1 &&
                  column <= size + 1);
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    PM_FUZZ_CHECK(line <= lines);
}

static void try_set(struct pm_config *config, const char *text, size_t size)
{
    char *value = strndup(text, size);
    if (!value)
        return;
    for (size_t i = 0; pm_config_key(i); i++) {
        struct pm_error error = {0};
        if (!pm_config_set(config, pm_config_key(i), value, "fuzz", &error))
            PM_FUZZ_CHECK(strncmp(error.message, "fuzz: ", 6) == 0);
    }
    free(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pm_config config, before;
    struct pm_error error = {0};
    const char *text = data ? (const char *)data : "";
    pm_config_init(&config);
    memcpy(&before, &config,
           sizeof(before)); /* with its padding, which an assignment may leave out */
    if (pm_config_parse(&config, "fuzz", text, size, &error)) {
        PM_FUZZ_CHECK(config.sampler.api_probability >= 0 && config.sampler.api_probability <= 1);
        PM_FUZZ_CHECK(config.sampler.window_frames >= 1 && config.sampler.batch >= 1);
        PM_FUZZ_CHECK(config.limits.compile_threads >= 1 && config.limits.compile_threads <= 64);
        PM_FUZZ_CHECK((config.sampler.kinds & ~(uint32_t)PM_KIND_BITS_ALL) == 0);
        PM_FUZZ_CHECK((config.optimize.block_passes & ~PM_BLOCK_PASS_BITS_ALL) == 0);
    } else {
        check_place(error.message, text, size);
        PM_FUZZ_CHECK(memcmp(&before, &config, sizeof(before)) == 0);
    }
    try_set(&config, text, size < 200 ? size : 200);
    pm_config_finish(&config);
    return 0;
}
