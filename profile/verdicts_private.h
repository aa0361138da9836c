/* For verdicts.c, and verdicts_search.c, which looks at what it has. */
#pragma once

#include "profile/verdicts.h"
#include "profile/verdicts_text.h"
#include <pthread.h>
#include <sys/types.h>

struct pm_verdicts {
    pid_t process;
    uint64_t session; /* a random number, not 0 */
    char *folder, *path, *layer;
    pthread_mutex_t saving; /* one save at a time; taken before the other */
    pthread_mutex_t lock;
    /* guarded by lock: */
    struct pm_kept_table table;
    struct pm_kept_table fresh; /* put since the last save */
};
