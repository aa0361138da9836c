#include "profile/journal_asked.h"

#include "base/file.h"
#include "base/random.h"
#include "profile/journal_folder.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

bool pm_run_begin(char name[PM_RUN_NAME_BYTES], struct pm_error *error)
{
    uint64_t random;
    if (!pm_random_system(&random, sizeof random))
        return pm_fail(error, PM_ERROR_IO, "the system gives no random numbers");
    snprintf(name, PM_RUN_NAME_BYTES, "%016" PRIx64, random);
    return setenv(PM_RUN_VARIABLE, name, 1) == 0 ||
           pm_fail_errno(error, errno, "setting " PM_RUN_VARIABLE);
}

bool pm_run_give(char name[PM_RUN_NAME_BYTES], struct pm_error *error)
{
    return pm_run_begin(name, error) && (setenv(PM_RUN_GIVEN, "1", 1) == 0 ||
                                         pm_fail_errno(error, errno, "setting " PM_RUN_GIVEN));
}

const char *pm_run_name(void)
{
    const char *name = getenv(PM_RUN_VARIABLE);
    return name && strlen(name) == PM_RUN_NAME_BYTES - 1 &&
                   strspn(name, "0123456789abcdef") == PM_RUN_NAME_BYTES - 1
               ? name
               : NULL;
}

struct asking {
    char suffix[PM_JOURNAL_RUN_SUFFIX];
    int64_t asked;
    struct pm_run_sessions *sessions;
    struct pm_error *error;
    bool ok;
};

/* A line that was torn when the process died goes: nothing can be read behind it. */
static bool mark(int fd, off_t size, struct pm_error *error)
{
    static const char line[] = PM_JOURNAL_ASKED "\n";
    char end[sizeof line - 1];
    char last = '\n';
    if (size >= (off_t)sizeof end &&
        pread(fd, end, sizeof end, size - (off_t)sizeof end) == (ssize_t)sizeof end &&
        memcmp(end, line, sizeof end) == 0)
        return true;
    while (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n')
        size--;
    if (size == 0)
        return true; /* nothing was used */
    if (ftruncate(fd, size) != 0 || lseek(fd, size, SEEK_SET) != size)
        return pm_fail_errno(error, errno, "the journal cannot be written");
    const int why = pm_write_all(fd, line, sizeof end);
    return why == 0 || pm_fail_errno(error, why, "the journal cannot be written");
}

static void look_at_file(const char *path, const struct stat *found, void *user)
{
    struct asking *asking = user;
    (void)found; /* before it was locked */
    struct stat status;
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return; /* judged meanwhile */
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        asking->sessions->live++;
    } else if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
               status.st_mtim.tv_sec >= asking->asked - PM_ASKED_ALIVE &&
               status.st_mtim.tv_sec <= asking->asked + PM_ASKED_ENDS) {
        asking->ok = mark(fd, status.st_size, asking->error) && asking->ok;
        asking->sessions->marked++;
    }
    close(fd);
}

static bool look_at_game(const char *path, const char *game, void *user, struct pm_error *error)
{
    struct asking *asking = user;
    (void)game;
    (void)error;
    const int locked = pm_journal_lock(path);
    if (locked < 0)
        return true; /* somebody judges it now */
    pm_journal_each_file(path, asking->suffix, look_at_file, asking);
    pm_journal_unlock(locked);
    return asking->ok;
}

bool pm_journal_asked(const char *folder, const char *run, int64_t asked,
                      struct pm_run_sessions *sessions, struct pm_error *error)
{
    struct asking asking = {.asked = asked, .sessions = sessions, .error = error, .ok = true};
    *sessions = (struct pm_run_sessions){0};
    pm_journal_run_suffix(run, asking.suffix);
    return pm_journal_each_folder(folder, look_at_game, &asking, error) && asking.ok;
}
