#include "bench/common/lockstep.h"

#include "base/clock.h"
#include "tools/common/launch.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool start(struct pm_side *side, struct pm_error *error)
{
    int in[2], out[2];
    side->length = 0;
    if (pipe(in) != 0)
        return pm_fail_errno(error, errno, "a pipe");
    if (pipe(out) != 0) {
        close(in[0]);
        close(in[1]);
        return pm_fail_errno(error, errno, "a pipe");
    }
    side->process = fork();
    if (side->process == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        for (int fd = STDERR_FILENO + 1; fd < 256; fd++)
            close(fd); /* also the other sides' ends, or they would never see the end of input */
        for (size_t i = 0; side->environment && side->environment[i]; i++)
            putenv((char *)side->environment[i]);
        execvp(side->words[0], (char *const *)side->words);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    side->in = in[1];
    side->out = out[0];
    return side->process > 0 || pm_fail_errno(error, errno, "%s", side->words[0]);
}

bool pm_lockstep_start(struct pm_side *sides, size_t count, struct pm_error *error)
{
    signal(SIGPIPE, SIG_IGN); /* a side that died is told by what it does not answer */
    for (size_t i = 0; i < count; i++)
        if (!start(&sides[i], error)) {
            pm_lockstep_stop(sides, i, &(struct pm_error){0});
            return false;
        }
    return true;
}

bool pm_lockstep_goes_on(struct pm_error *error)
{
    return pm_launch_asked() == 0 || pm_fail(error, PM_ERROR_STATE, "it was told to end");
}

static bool ask(struct pm_side *side, struct pm_error *error)
{
    if (write(side->in, ".", 1) == 1)
        return true;
    const int why = errno;
    return pm_lockstep_goes_on(error) &&
           pm_fail_errno(error, why, "%s takes no more input", side->words[0]);
}

static bool hear(struct pm_side *side, double *milliseconds, struct pm_error *error)
{
    for (;;) {
        char *end = memchr(side->text, '\n', side->length);
        if (end) {
            *end = 0;
            *milliseconds = strtod(side->text, NULL);
            side->length -= (size_t)(end + 1 - side->text);
            memmove(side->text, end + 1, side->length);
            return *milliseconds > 0 ||
                   pm_fail(error, PM_ERROR_INPUT, "%s answers \"%s\"", side->words[0], side->text);
        }
        const ssize_t got =
            side->length < sizeof(side->text)
                ? read(side->out, side->text + side->length, sizeof(side->text) - side->length)
                : 0;
        /* The scene is not to blame for the signal, which ends the read, or the scene, too. */
        if (got <= 0)
            return pm_lockstep_goes_on(error) &&
                   pm_fail(error, PM_ERROR_STATE, "%s answers no more", side->words[0]);
        side->length += (size_t)got;
    }
}

bool pm_lockstep_round(struct pm_side *sides, size_t count, struct pm_random *random,
                       double *milliseconds, struct pm_error *error)
{
    size_t order[PM_SIDES];
    if (!pm_lockstep_goes_on(error))
        return false;
    for (size_t i = 0; i < count; i++) {
        const size_t j = pm_random_below(random, (uint32_t)i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (size_t i = 0; i < count; i++)
        if (!ask(&sides[order[i]], error) ||
            !hear(&sides[order[i]], &milliseconds[order[i]], error))
            return false;
    return true;
}

bool pm_lockstep_together(struct pm_side *sides, size_t count, struct pm_error *error)
{
    double milliseconds;
    for (size_t i = 0; i < count; i++)
        if (!ask(&sides[i], error))
            return false;
    for (size_t i = 0; i < count; i++)
        if (!hear(&sides[i], &milliseconds, error))
            return false;
    return true;
}

bool pm_lockstep_stop(struct pm_side *sides, size_t count, struct pm_error *error)
{
    bool ok = true;
    for (size_t i = 0; i < count; i++)
        close(sides[i].in);
    for (size_t i = 0; i < count; i++) {
        int status = -1;
        close(sides[i].out);
        if (waitpid(sides[i].process, &status, 0) < 0 || status != 0)
            ok = pm_fail(error, PM_ERROR_STATE, "%s ended with status %d", sides[i].words[0],
                         WIFEXITED(status) ? WEXITSTATUS(status) : status);
    }
    return ok;
}

bool pm_lockstep_draw_until(struct pm_side *sides, size_t count, const struct pm_rounds *rounds,
                            double *const *milliseconds, size_t *drawn, struct pm_error *error)
{
    struct pm_random random;
    struct pm_error stopping = {0};
    pm_random_init(&random, 1);
    if (!pm_lockstep_start(sides, count, error))
        return false;
    bool ok = true;
    size_t i = 0;
    for (; ok && i < rounds->most && (i < rounds->least || pm_now() < rounds->until); i++) {
        double round[PM_SIDES];
        ok = pm_lockstep_round(sides, count, &random, round, error);
        for (size_t side = 0; ok && side < count; side++)
            milliseconds[side][i] = round[side];
    }
    *drawn = i;
    const bool stopped = pm_lockstep_stop(sides, count, &stopping);
    if (ok && !stopped)
        *error = stopping;
    return ok && stopped;
}

bool pm_lockstep_draw(struct pm_side *sides, size_t count, size_t rounds,
                      double *const *milliseconds, struct pm_error *error)
{
    const struct pm_rounds all = {.least = rounds, .most = rounds};
    size_t drawn;
    return pm_lockstep_draw_until(sides, count, &all, milliseconds, &drawn, error);
}

struct pm_paired pm_paired_ratio(const double *numerator, const double *denominator,
                                 const bool *skip, size_t rounds, size_t block, double trim)
{
    double *log_ratios = calloc(rounds / block + 1, sizeof(*log_ratios));
    double above = 0, below = 0;
    size_t blocks = 0, in_block = 0;
    for (size_t i = 0; log_ratios && i < rounds; i++) {
        if (skip && skip[i])
            continue;
        above += numerator[i];
        below += denominator[i];
        if (++in_block < block)
            continue;
        log_ratios[blocks++] = log(above / below);
        in_block = 0;
        above = below = 0;
    }
    const struct pm_paired paired = pm_paired_interval(log_ratios, blocks, trim);
    free(log_ratios);
    return paired;
}
