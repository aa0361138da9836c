#include "layer/core/thread.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

bool pm_thread_start(pthread_t *thread, size_t stack, const char *name, void *(*run)(void *user),
                     void *user)
{
    static const int own_faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setstacksize(&attributes, stack);
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof own_faults / sizeof own_faults[0]; i++)
        sigdelset(&blocked, own_faults[i]);
    /* A thread inherits the mask of the one that starts it. */
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    bool ok = pthread_create(thread, &attributes, run, user) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (ok)
        pthread_setname_np(*thread, name);
    return ok;
}

void pm_thread_lower(int niceness)
{
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), niceness);
}
