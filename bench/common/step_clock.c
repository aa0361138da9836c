#include "bench/common/step_clock.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000, MILLISECOND = 1000 };

static const uint64_t begin = UINT64_C(1700000000) * SECOND;
static _Atomic uint64_t passed;

/* The executable's code; nothing: it keeps the true time. */
static struct {
    uintptr_t begin, end;
} executable;

PM_PRELOADED int gettimeofday(struct timeval *restrict now, void *restrict zone);
PM_PRELOADED int clock_gettime(clockid_t clock, struct timespec *now);
PM_PRELOADED int select(int count, fd_set *restrict reads, fd_set *restrict writes,
                        fd_set *restrict fails, struct timeval *restrict most);
PM_PRELOADED void srand(unsigned seed);
PM_PRELOADED uint32_t SDL_GetTicks(void);
PM_PRELOADED uint64_t SDL_GetPerformanceCounter(void);
PM_PRELOADED uint64_t SDL_GetPerformanceFrequency(void);
PM_PRELOADED void SDL_Delay(uint32_t milliseconds);

void *pm_step_find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "step_frames: there is no %s\n", name);
        _exit(1);
    }
    return found;
}

void pm_step_clock_pass(uint64_t microseconds)
{
    atomic_fetch_add(&passed, microseconds);
}

static uint64_t ask(void)
{
    return atomic_fetch_add(&passed, 1);
}

/* The first object is the executable. */
static int take_executable(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size, (void)user;
    for (uint16_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        executable.begin = info->dlpi_addr + segment->p_vaddr;
        executable.end = executable.begin + segment->p_memsz;
    }
    return 1;
}

__attribute__((constructor)) static void begin_alike(void)
{
    if (dlsym(RTLD_DEFAULT, "vkCreateInstance") == NULL)
        dl_iterate_phdr(take_executable, NULL);
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    const uint64_t time = begin + ask();
    now->tv_sec = (time_t)(time / SECOND);
    now->tv_usec = (suseconds_t)(time % SECOND);
    return 0;
}

static bool is_of_executable(const void *caller)
{
    return (uintptr_t)caller >= executable.begin && (uintptr_t)caller < executable.end;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*_Atomic next)(clockid_t, struct timespec *);
    const bool of_executable = is_of_executable(__builtin_return_address(0));
    const bool told =
        clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW;
    if (told && of_executable) {
        const uint64_t time = begin + ask();
        *now = (struct timespec){.tv_sec = (time_t)(time / SECOND),
                                 .tv_nsec = (long)(time % SECOND) * 1000};
        return 0;
    }
    if (!next)
        next = (int (*)(clockid_t, struct timespec *))pm_step_find("clock_gettime");
    return next(clock, now);
}

/* Games that wait for their next frame's time wait for messages meanwhile. */
int select(int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict fails,
           struct timeval *restrict most)
{
    struct timeval none = {.tv_sec = 0};
    const bool passes = most != NULL && is_of_executable(__builtin_return_address(0));
    if (passes)
        pm_step_clock_pass((uint64_t)most->tv_sec * SECOND + (uint64_t)most->tv_usec);
    return ((int (*)(int, fd_set *, fd_set *, fd_set *, struct timeval *))pm_step_find("select"))(
        count, reads, writes, fails, passes ? &none : most);
}

void srand(unsigned seed)
{
    (void)seed;
}

uint32_t SDL_GetTicks(void)
{
    return (uint32_t)(ask() / MILLISECOND);
}

uint64_t SDL_GetPerformanceCounter(void)
{
    return ask();
}

uint64_t SDL_GetPerformanceFrequency(void)
{
    return SECOND;
}

/* The thread that draws is the first. Others wait in earnest: they would ask again at once. */
void SDL_Delay(uint32_t milliseconds)
{
    if (syscall(SYS_gettid) == getpid())
        pm_step_clock_pass((uint64_t)milliseconds * MILLISECOND);
    else
        ((void (*)(uint32_t))pm_step_find("SDL_Delay"))(milliseconds);
}
