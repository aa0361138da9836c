/* Any bytes as the server's configuration: taken, or refused with a place. */
#include "tests/fuzz/fuzz.h"
#include "tools/serve/serve_options.h"
#include <string.h>

const struct pm_fuzz_input pm_fuzz_inputs[] = {
    PM_FUZZ_TEXT("{\"$schema\": \"x\", \"storage\": \"a\", \"port\": 65535, \"dev\": true}"),
    PM_FUZZ_TEXT("{\"half_width\": 1e-3, \"memory_mib\": 1048576, \"log_level\": \"debug\"}"),
    PM_FUZZ_TEXT("{\"certificate\": \"\\u00e4\\n\", \"key\": \"\\ud83d\\ude00\"}"),
    PM_FUZZ_TEXT("{\"port\": 1, \"port\": 2}"),
    PM_FUZZ_TEXT("[[[[[[[[[[[[[[[["),
    PM_FUZZ_TEXT(""),
    {NULL, 0},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = data ? (const char *)data : "";
    struct pm_serve_options options;
    struct pm_error error = {0};
    if (!pm_serve_options_init(&options, &error))
        return 0;
    if (pm_serve_options_parse(&options, "fuzz", text, size, &error)) {
        for (const struct pm_serve_option *row = pm_serve_option_table; row->name; row++) {
            const void *at = (const char *)&options + row->offset;
            if (row->type == PM_SERVE_TEXT && *(const char *const *)at)
                PM_FUZZ_CHECK(strlen(*(const char *const *)at) > 0);
        }
        pm_serve_options_agree(&options, &error);
    } else {
        PM_FUZZ_CHECK(strncmp(error.message, "fuzz:", 5) == 0);
    }
    pm_serve_options_finish(&options);
    return 0;
}
