#include "tools/bisect/command_bisect.h"

#include "base/buffer.h"
#include "tools/bisect/reproduction.h"
#include "tools/bisect/search.h"
#include "tools/bisect/session.h"
#include "tools/common/options.h"
#include "tools/common/tool.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: piecemeal bisect [OPTION…] -- PROGRAM [ARGUMENT…]\n\n"
    "  --compare FILE     a file that the program writes, as a picture: it goes wrong when that "
    "is not what it\n"
    "                     is without specialized shaders\n"
    "  --check COMMAND    run after each session: it goes wrong when that does not end with 0 "
    "(125: it cannot tell)\n"
    "  --local            by what `piecemeal run --local` knows of the program\n"
    "  -o FOLDER          where reproductions go (piecemeal-reproduction)\n\n"
    "Finds by halving what of its specialized shaders makes a program that ends by itself go "
    "wrong: "
    "end otherwise\nthan without them, crash for one, or as the options say. Starts it again and "
    "again, two times for each halving\nat most. Says which shader, and which part of what is done "
    "to it: pushed or words (known words of push constants,\nof uniforms), zeros, blocks (how "
    "often "
    "they run), recipe (the variant of A-Z testing), passes (optimize.partition).\nOf each that it "
    "finds it leaves the modules, how they were made, and a script that shows it again. Ends with "
    "0\n"
    "when it found any.\n";

#define MOST_BYTES ((size_t)16 << 20)

struct bisect {
    FILE *out; /* what was found; the program's own output is not among it */
    struct pm_bisection bisection;
    const char *folder;
    struct pm_names found; /* "KEY PART", withheld from then on */
    struct pm_names used;  /* what the search is among, likewise */
};

static enum pm_answer say(const struct bisect *b, const char *with, enum pm_answer answer)
{
    static const char *const words[] = {
        [PM_GOOD] = "good", [PM_BAD] = "goes wrong", [PM_NO_ANSWER] = "no answer"};
    fprintf(stderr, "piecemeal bisect: session %u, with %s: %s\n", b->bisection.sessions, with,
            words[answer]);
    return answer;
}

/* ---- sessions ---- */

/* With the game's own shaders alone, twice: whoever does not do the same twice cannot be compared.
 */
static bool play_without(struct bisect *b, struct pm_error *error)
{
    for (int i = 0; i < 2; i++) {
        const enum pm_answer answer =
            say(b, "no specialized shader", pm_bisection_play(&b->bisection, "*\n", false, NULL));
        if (answer == PM_NO_ANSWER)
            return pm_fail(error, b->bisection.error.code, "%s", b->bisection.error.message);
        if (answer == PM_BAD)
            return pm_fail(error, PM_ERROR_STATE, "%s",
                           i == 0 ? "it goes wrong without specialized shaders, too"
                                  : "without specialized shaders it is not the same twice: a "
                                    "--check may know what matters");
    }
    return true;
}

/* With all that were not found yet; these are then in used. */
static enum pm_answer play_rest(struct bisect *b)
{
    struct pm_buffer withhold;
    char with[64];
    pm_buffer_init(&withhold, MOST_BYTES);
    bool ok = true;
    for (size_t i = 0; ok && i < b->found.count; i++)
        ok = pm_buffer_printf(&withhold, "%s\n", b->found.names[i]);
    pm_names_finish(&b->used);
    enum pm_answer answer = PM_NO_ANSWER;
    if (ok)
        answer = pm_bisection_play(&b->bisection, withhold.data ? (char *)withhold.data : "", true,
                                   &b->used);
    else
        pm_fail(&b->bisection.error, PM_ERROR_MEMORY, "out of memory");
    snprintf(with, sizeof with, "%s %zu parts of specialized shaders",
             b->found.count > 0 ? "the other" : "all", b->used.count);
    pm_buffer_finish(&withhold);
    return say(b, with, answer);
}

/* With some of used, and nothing else. */
static enum pm_answer play_only(struct bisect *b, const bool *used, bool keeps)
{
    struct pm_buffer withhold;
    char with[64];
    size_t count = 0;
    pm_buffer_init(&withhold, MOST_BYTES);
    bool ok = pm_buffer_append_string(&withhold, "*\n");
    for (size_t i = 0; ok && i < b->used.count; i++) {
        if (!used[i])
            continue;
        ok = pm_buffer_printf(&withhold, "!%s\n", b->used.names[i]);
        count++;
    }
    enum pm_answer answer = PM_NO_ANSWER;
    if (ok)
        answer = pm_bisection_play(&b->bisection, (char *)withhold.data, keeps, NULL);
    else
        pm_fail(&b->bisection.error, PM_ERROR_MEMORY, "out of memory");
    snprintf(with, sizeof with, "%zu of %zu%s", count, b->used.count,
             keeps ? ", for the reproduction" : "");
    pm_buffer_finish(&withhold);
    return say(b, with, answer);
}

static enum pm_answer play_some(void *user, const bool *used)
{
    return play_only(user, used, false);
}

/* ---- what was found ---- */

static bool tell(struct bisect *b, const struct pm_names *keys, struct pm_error *error)
{
    char *path = NULL;
    if (!pm_reproduction_write(&b->bisection, b->folder, keys, &path, error))
        return false;
    for (size_t i = 0; i < keys->count; i++)
        fprintf(b->out, "%s\n", keys->names[i]);
    fflush(b->out);
    fprintf(stderr, "piecemeal bisect: it goes wrong with %s; reproduction: %s\n",
            keys->count == 1 ? keys->names[0] : "these together", path);
    free(path);
    return true;
}

/* Of those that the session before used. */
static bool find_one(struct bisect *b, struct pm_error *error)
{
    const struct pm_search search = {.count = b->used.count, .test = play_some, .user = b};
    struct pm_names keys = {0};
    bool *set = calloc(b->used.count + 1, sizeof *set);
    for (size_t i = 0; set && i < b->used.count; i++)
        set[i] = true;
    /* The last one is for the modules as they are when nothing else is done. */
    bool ok = set && pm_search_least(&search, set);
    const enum pm_answer last = ok ? play_only(b, set, true) : PM_NO_ANSWER;
    ok = last == PM_BAD;
    if (last == PM_GOOD)
        pm_fail(error, PM_ERROR_STATE,
                "it does not go wrong again: the program or its check is not the same each time");
    else if (!ok && b->bisection.error.code != PM_OK)
        pm_fail(error, b->bisection.error.code, "%s", b->bisection.error.message);
    else if (!ok)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (size_t i = 0; ok && i < b->used.count; i++)
        if (set[i])
            ok = (pm_names_append(&keys, b->used.names[i]) &&
                  pm_names_append(&b->found, b->used.names[i])) ||
                 pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    ok = ok && tell(b, &keys, error);
    pm_names_finish(&keys);
    free(set);
    return ok;
}

static bool find_all(struct bisect *b, struct pm_error *error)
{
    for (;;) {
        const enum pm_answer answer = play_rest(b);
        if (answer == PM_NO_ANSWER)
            return pm_fail(error, b->bisection.error.code, "%s", b->bisection.error.message);
        if (answer == PM_GOOD)
            return true;
        if (b->used.count == 0)
            return pm_fail(error, PM_ERROR_STATE,
                           "it goes wrong with the layer though no shader is specialized");
        if (!find_one(b, error))
            return false;
    }
}

static void say_nothing_found(const struct bisect *b)
{
    if (b->used.count == 0)
        fprintf(stderr,
                "piecemeal bisect: no specialized shader came into use: there is no profile of the "
                "program yet, or nothing in it is worth specializing%s\n",
                b->bisection.local ? "; `piecemeal run --local --set sampler.window_probability=1` "
                                     "makes one"
                                   : ", or it is one of `run --local`: give --local, too");
    else
        fprintf(stderr,
                "piecemeal bisect: with all %zu parts of specialized shaders it is as without\n",
                b->used.count);
}

/* What the program, the check and others print goes to standard error from here on. */
static bool take_output(struct bisect *b, struct pm_error *error)
{
    const int own = dup(STDOUT_FILENO);
    b->out = own >= 0 ? fdopen(own, "w") : NULL;
    return (b->out && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) ||
           pm_fail_errno(error, errno, "standard output");
}

int pm_command_bisect(int argc, char **argv)
{
    struct bisect b = {.folder = "piecemeal-reproduction"};
    struct pm_error error = {0};
    const struct pm_option options[] = {PM_OPTION_TEXT("compare", &b.bisection.compare),
                                        PM_OPTION_TEXT("check", &b.bisection.check),
                                        PM_OPTION_FLAG("local", &b.bisection.local),
                                        {.letter = 'o', .text = &b.folder}};
    const int status =
        pm_tool_leading_options("bisect", help, options, sizeof options / sizeof *options, argc,
                                argv, &b.bisection.program);
    if (status >= 0)
        return status;
    if (!b.bisection.program[0])
        return pm_tool_usage("bisect", "no program to run");
    const bool ok = take_output(&b, &error) && pm_bisection_begin(&b.bisection, &error) &&
                    play_without(&b, &error) && find_all(&b, &error);
    pm_bisection_end(&b.bisection);
    const bool found = b.found.count > 0;
    if (ok && !found)
        say_nothing_found(&b);
    pm_names_finish(&b.found);
    pm_names_finish(&b.used);
    if (b.out)
        fclose(b.out);
    if (!ok)
        return pm_tool_failed("bisect", &error);
    return found ? PM_EXIT_OK : PM_EXIT_FAILED;
}
