#include "bench/gain/callgrind.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pm_callgrind_init(struct pm_callgrind *callgrind, const char *folder, const char *name)
{
    snprintf(callgrind->prefix, sizeof(callgrind->prefix), "%s/%s.vgdb", folder, name);
    snprintf(callgrind->out, sizeof(callgrind->out), "%s/%s.callgrind", folder, name);
    snprintf(callgrind->pipe_word, sizeof(callgrind->pipe_word), "--vgdb-prefix=%s",
             callgrind->prefix);
    snprintf(callgrind->out_word, sizeof(callgrind->out_word), "--callgrind-out-file=%s",
             callgrind->out);
    const char *const words[PM_CALLGRIND_WORDS] = {"valgrind",           "-q",
                                                   "--tool=callgrind",   "--compress-strings=no",
                                                   "--compress-pos=no",  "--instr-atstart=no",
                                                   callgrind->pipe_word, callgrind->out_word};
    memcpy(callgrind->words, words, sizeof(words));
    callgrind->dumps = 0;
}

static bool tell(const struct pm_callgrind *callgrind, const char *command, struct pm_error *error)
{
    char line[512], said[256] = "";
    snprintf(line, sizeof(line), "vgdb --vgdb-prefix='%s' %s 2>&1", callgrind->prefix, command);
    FILE *vgdb = popen(line, "r");
    if (!vgdb)
        return pm_fail(error, PM_ERROR_STATE, "vgdb could not be started");
    const size_t got = fread(said, 1, sizeof(said) - 1, vgdb);
    said[strcspn(said, "\n")] = 0;
    while (getc(vgdb) != EOF)
        ;
    return (pclose(vgdb) == 0 && got > 0) ||
           pm_fail(error, PM_ERROR_STATE, "vgdb %s: %s", command, said);
}

bool pm_callgrind_start(const struct pm_callgrind *callgrind, struct pm_error *error)
{
    return tell(callgrind, "instrumentation on", error);
}

/* ---- dumps ---- */

struct dump {
    struct pm_instructions sum;
    uint64_t totals; /* what the file says that it sums to */
    bool generated;  /* the functions that come now are in no file */
    bool of_call;    /* the costs that come now are a callee's, who has them too */
};

/* Callgrind Format Specification: costs are lines of a position and a number. */
static void read_line(struct dump *dump, const char *line)
{
    if (strncmp(line, "ob=", 3) == 0) {
        dump->generated = strcmp(line, "ob=???\n") == 0;
    } else if (strncmp(line, "calls=", 6) == 0) {
        dump->of_call = true;
    } else if (strncmp(line, "totals: ", 8) == 0) {
        dump->totals = strtoull(line + 8, NULL, 10);
    } else if (line[0] >= '0' && line[0] <= '9') {
        const char *cost = strchr(line, ' ');
        const uint64_t count = cost && !dump->of_call ? strtoull(cost, NULL, 10) : 0;
        dump->sum.all += count;
        dump->sum.generated += dump->generated ? count : 0;
        dump->of_call = false;
    }
}

bool pm_callgrind_read(const char *path, struct pm_instructions *instructions,
                       struct pm_error *error)
{
    struct dump dump = {0};
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (!file)
        return pm_fail_errno(error, errno, "%s", path);
    while (getline(&line, &size, file) >= 0)
        read_line(&dump, line);
    free(line);
    fclose(file);
    *instructions = dump.sum;
    return (dump.sum.all > 0 && dump.sum.all == dump.totals) ||
           pm_fail(error, PM_ERROR_INPUT, "%s: sums to %" PRIu64 ", and says %" PRIu64, path,
                   dump.sum.all, dump.totals);
}

bool pm_callgrind_take(struct pm_callgrind *callgrind, struct pm_instructions *instructions,
                       struct pm_error *error)
{
    char path[sizeof(callgrind->out) + 16];
    snprintf(path, sizeof(path), "%s.%u", callgrind->out, ++callgrind->dumps);
    return tell(callgrind, "dump", error) && pm_callgrind_read(path, instructions, error);
}
