#include "tests/aggregator/service/engine.h"

#include "tests/patience.h"
#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cmocka_includes.h"

enum { MOST_ARGUMENTS = 64 };

/* Its process, as it notes itself. */
static pid_t read_pid(const char *folder)
{
    char path[400];
    long pid = 0;
    snprintf(path, sizeof(path), "%s/data/postmaster.pid", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%ld", &pid), 1);
    fclose(file);
    return (pid_t)pid;
}

void engine_find(struct engine *engine, const char *folder)
{
    char path[100];
    struct stat status;
    *engine = (struct engine){.folder = folder, .pid = read_pid(folder)};
    snprintf(engine->log, sizeof(engine->log), "%s/log", folder);
    snprintf(path, sizeof(path), "/proc/%d", (int)engine->pid);
    assert_int_equal(stat(path, &status), 0);
    engine->user = status.st_uid;
    engine->group = status.st_gid;
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)engine->pid);
    const ssize_t size = readlink(path, engine->program, sizeof(engine->program) - 1);
    assert_true(size > 0);
    engine->program[size] = 0;
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)engine->pid);
    pm_buffer_init(&engine->command, 1 << 16);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char block[4096];
    for (ssize_t got; (got = read(fd, block, sizeof(block))) > 0;)
        assert_true(pm_buffer_append(&engine->command, block, (size_t)got));
    close(fd);
}

static PGPing ping(const struct engine *engine)
{
    char url[300];
    snprintf(url, sizeof(url), "postgresql:///postgres?host=%s&user=piecemeal", engine->folder);
    return PQping(url);
}

bool engine_is_there(const struct engine *engine)
{
    return ping(engine) == PQPING_OK;
}

void engine_end(struct engine *engine)
{
    uint64_t until = 0;
    assert_int_equal(kill(engine->pid, SIGQUIT), 0);
    while (ping(engine) != PQPING_NO_RESPONSE && patience(&until)) {
    }
    assert_false(engine_is_there(engine));
}

static void engine_run(const struct engine *engine)
{
    char *arguments[MOST_ARGUMENTS + 1] = {0};
    size_t count = 0;
    for (size_t at = 0; at < engine->command.size && count < MOST_ARGUMENTS;
         at += strlen((char *)engine->command.data + at) + 1)
        arguments[count++] = (char *)engine->command.data + at;
    const int log = open(engine->log, O_WRONLY | O_APPEND | O_CLOEXEC);
    dup2(log, 1);
    dup2(log, 2);
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    if (geteuid() == 0 &&
        (setgroups(0, NULL) != 0 || setgid(engine->group) != 0 || setuid(engine->user) != 0))
        _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGQUIT); /* a test that fails leaves none behind */
    execv(engine->program, arguments);
    _exit(127);
}

void engine_start(struct engine *engine)
{
    uint64_t until = 0;
    engine->pid = 0;
    while (!engine_is_there(engine) && patience(&until)) {
        if (engine->pid != 0 && waitpid(engine->pid, NULL, WNOHANG) != engine->pid)
            continue;
        engine->pid = fork();
        assert_true(engine->pid >= 0);
        if (engine->pid == 0)
            engine_run(engine);
    }
    assert_true(engine_is_there(engine));
}

void engine_add_option(struct engine *engine, const char *option)
{
    assert_true(pm_buffer_append(&engine->command, "-c", 3) &&
                pm_buffer_append(&engine->command, option, strlen(option) + 1));
}

void engine_finish(struct engine *engine)
{
    kill(engine->pid, SIGINT);
    waitpid(engine->pid, NULL, 0);
    pm_buffer_finish(&engine->command);
}
