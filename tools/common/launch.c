#include "tools/common/launch.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MANIFEST "vulkan/implicit_layer.d/VkLayer_piecemeal.json"
#define DEFAULT_DATA_FOLDERS "/usr/local/share:/usr/share"

static char *if_manifest(const char *folder, const char *more)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s%s", folder, more);
    if (length <= 0 || (size_t)length + sizeof(MANIFEST) + 1 > sizeof(path))
        return NULL;
    path[length] = '/';
    memcpy(path + length + 1, MANIFEST, sizeof(MANIFEST));
    if (access(path, R_OK) != 0)
        return NULL;
    path[length] = 0;
    return realpath(path, NULL);
}

char *pm_launch_data_folder(void)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0)
        return NULL;
    self[length] = 0;
    char *slash = strrchr(self, '/');
    if (!slash)
        return NULL;
    *slash = 0;
    return if_manifest(
        self,
        "/../share"); /* PREFIX/bin beside PREFIX/share; the build folder is laid out so too */
}

/* Whether the colon-separated list has the folder. */
static bool list_has(const char *list, const char *folder)
{
    size_t size = strlen(folder);
    while (*list) {
        size_t part = strcspn(list, ":");
        size_t bare = part;
        while (bare > 1 && list[bare - 1] == '/')
            bare--;
        if (bare == size && !strncmp(list, folder, size))
            return true;
        list += part + (list[part] == ':');
    }
    return false;
}

bool pm_launch_environment(struct pm_error *error)
{
    char *folder = pm_launch_data_folder();
    const char *folders = getenv("XDG_DATA_DIRS");
    bool ok = true;
    if (!folders || !*folders)
        folders = DEFAULT_DATA_FOLDERS;
    if (folder && !list_has(folders, folder)) {
        size_t size = strlen(folder) + strlen(folders) + 2;
        char *both = malloc(size);
        if (both)
            snprintf(both, size, "%s:%s", folders, folder);
        ok = both && setenv("XDG_DATA_DIRS", both, 1) == 0;
        free(both);
    }
    free(folder);
    ok = ok && setenv("PIECEMEAL_ENABLE", "1", 1) == 0 && unsetenv("PIECEMEAL_DISABLE") == 0;
    return ok || pm_fail_errno(error, errno, "setting the environment");
}

static volatile sig_atomic_t child_to_signal;
static _Atomic int64_t asked; /* CLOCK_REALTIME, seconds */

/* The terminal sends SIGINT to the child itself. */
static void note(int number)
{
    struct timespec now;
    (void)number;
    clock_gettime(CLOCK_REALTIME, &now);
    atomic_store(&asked, now.tv_sec);
}

static void pass_on(int number)
{
    note(number);
    if (child_to_signal > 0)
        kill((pid_t)child_to_signal, number);
}

int64_t pm_launch_asked(void)
{
    return atomic_load(&asked);
}

/* What this process does with signals from its first child on. What it was told to ignore (nohup)
 * it goes on to, but for SIGINT, which harms nobody: a child may have its own handler. */
static struct taken {
    int number;
    void (*handler)(int number);
    bool also_ignored;
    struct sigaction before;
} taken[] = {
    /* Where it is ignored (whoever started us did so) a child's status is not kept. */
    {.number = SIGCHLD, .handler = SIG_DFL, .also_ignored = true},
    {.number = SIGINT, .handler = note, .also_ignored = true},
    {.number = SIGQUIT, .handler = SIG_IGN},
    {.number = SIGTERM, .handler = pass_on},
    {.number = SIGHUP, .handler = pass_on},
};
enum { TAKEN = sizeof taken / sizeof *taken };
static bool has_taken;

static void take_signals(void)
{
    for (size_t i = 0; !has_taken && i < TAKEN; i++) {
        const struct sigaction action = {.sa_handler = taken[i].handler};
        sigaction(taken[i].number, NULL, &taken[i].before);
        if (taken[i].also_ignored || taken[i].before.sa_handler != SIG_IGN)
            sigaction(taken[i].number, &action, NULL);
    }
    has_taken = true;
}

static void give_signals_back(void)
{
    for (size_t i = 0; i < TAKEN; i++)
        sigaction(taken[i].number, &taken[i].before, NULL);
}

/* fork, where the child does with signals what this process did at first. None that comes meanwhile
 * is lost. */
static pid_t fork_child(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    take_signals();
    const pid_t child = fork();
    const int why = errno;
    if (child > 0)
        child_to_signal = (sig_atomic_t)child;
    else if (child == 0)
        give_signals_back();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return child;
}

/* Its exit status, or 128 + the signal that killed it, which is *killed_by, or 0. */
static int wait_for(pid_t child, int *killed_by)
{
    int result = 0;
    while (waitpid(child, &result, 0) < 0 && errno == EINTR)
        ;
    child_to_signal = 0;
    *killed_by = WIFSIGNALED(result) ? WTERMSIG(result) : 0;
    return *killed_by > 0 ? 128 + *killed_by : WEXITSTATUS(result);
}

static int program_killed_by;

int pm_launch_killed_by(void)
{
    return program_killed_by;
}

bool pm_launch_wait(char *const *argv, int *status, struct pm_error *error)
{
    /* The child tells through the pipe why exec failed; exec itself closes it. */
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0)
        return pm_fail_errno(error, errno, "pipe");
    pid_t child = fork_child();
    if (child < 0) {
        int saved = errno;
        close(pipe_ends[0]);
        close(pipe_ends[1]);
        return pm_fail_errno(error, saved, "fork");
    }
    if (child == 0) {
        execvp(argv[0], argv);
        int why = errno;
        ssize_t ignored = write(pipe_ends[1], &why, sizeof(why));
        (void)ignored;
        _exit(127);
    }
    close(pipe_ends[1]);
    int why = 0;
    ssize_t got;
    do
        got = read(pipe_ends[0], &why, sizeof(why));
    while (got < 0 && errno == EINTR);
    close(pipe_ends[0]);
    *status = wait_for(child, &program_killed_by);
    return got != (ssize_t)sizeof(why) || pm_fail_errno(error, why, "%s", argv[0]);
}

bool pm_launch_apart(int (*work)(void *user), void *user, int *status, struct pm_error *error)
{
    fflush(NULL);
    const pid_t child = fork_child();
    if (child < 0)
        return pm_fail_errno(error, errno, "fork");
    if (child == 0) {
        const int result = work(user);
        fflush(NULL);
        _exit(result);
    }
    int killed_by;
    *status = wait_for(child, &killed_by);
    return true;
}

bool pm_launch_adopt(void)
{
    return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

bool pm_launch_left(void)
{
    pid_t ended;
    do
        ended = waitpid(-1, NULL, WNOHANG);
    while (ended > 0 || (ended < 0 && errno == EINTR));
    return ended == 0;
}
