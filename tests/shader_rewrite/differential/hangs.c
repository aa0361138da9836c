#include "tests/shader_rewrite/differential/hangs.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

static uint64_t seed_running;
static const char *running_name;
static struct pm_words running;

static void on_alarm(int signal)
{
    (void)signal;
    static const char path[] = "hangs.spv";
    char text[128];
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ssize_t written = write(file, running.data, running.count * sizeof(uint32_t));
    int size = snprintf(text, sizeof(text), "seed %" PRIu64 " hangs (%s), see %s\n", seed_running,
                        running_name, path);
    written += write(STDERR_FILENO, text, (size_t)size);
    _exit(written < 0 ? 3 : 4);
}

static void set_alarms(unsigned run, unsigned waited)
{
    const struct itimerval processor = {.it_value = {.tv_sec = run}};
    alarm(waited);
    assert_int_equal(setitimer(ITIMER_PROF, &processor, NULL), 0);
}

void hangs_watch(uint64_t seed, unsigned run, unsigned waited)
{
    signal(SIGALRM, on_alarm);
    signal(SIGPROF, on_alarm);
    seed_running = seed;
    set_alarms(run, waited);
}

void hangs_runs(const char *name, const struct pm_words *words)
{
    running = *words;
    running_name = name;
}

void hangs_rest(void)
{
    set_alarms(0, 0);
    seed_running = 0;
}

void hangs_say_last(void)
{
    if (seed_running)
        fprintf(stderr, "the last seed was %" PRIu64 "\n", seed_running);
}
