/*
 * A game for bench/common/step_frames.c: it shows frames without an end, whose picture is the time
 * and a random number of those that begin with the process's id. "differs": and the process's id.
 * "clocks": by clocks of others, and twenty seconds of sleep. "compiles", "writes": a thread
 * that is called as the layer's that do so are never rests. "works": each frame takes a million
 * turns of a loop. "glx", "vulkan", "encodes": not shown by SDL.
 */
#include "stepped_sdl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void *spin(void *user)
{
    for (volatile int *turns = user;; *turns = *turns ^ 1)
        continue;
    return NULL;
}

static void show_by_glx(void)
{
    void *library = dlopen(NULL, RTLD_NOW);
    void *(*get)(const char *) = (void *(*)(const char *))dlsym(library, "glXGetProcAddressARB");
    ((void (*)(void *, unsigned long))get("glXSwapBuffers"))(NULL, 0);
    dlclose(library);
}

static void show_by_vulkan(void)
{
    void *(*get)(void *, const char *) =
        (void *(*)(void *, const char *))vkGetInstanceProcAddr(NULL, "vkGetDeviceProcAddr");
    ((int (*)(void *, const void *))get(NULL, "vkQueuePresentKHR"))(NULL, NULL);
}

static void show(const char *how)
{
    if (strcmp(how, "glx") == 0)
        show_by_glx();
    else if (strcmp(how, "vulkan") == 0)
        show_by_vulkan();
    else if (strcmp(how, "encodes") == 0)
        avcodec_send_frame(NULL, how);
    else
        SDL_GL_SwapWindow(NULL);
}

static int tell_time(bool by_others)
{
    struct timeval now;
    struct timespec own;
    gettimeofday(&now, NULL);
    if (!by_others)
        return (int)(now.tv_sec * 1000000 + now.tv_usec);
    SDL_Delay(10000);
    select(0, NULL, NULL, NULL, &(struct timeval){.tv_sec = 10});
    clock_gettime(CLOCK_MONOTONIC, &own);
    return (int)(SDL_GetTicks() + SDL_GetPerformanceCounter() + SDL_GetPerformanceFrequency() +
                 (uint64_t)own.tv_nsec);
}

int main(int argc, char **argv)
{
    static int turns;
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t thread;
    const bool writes = strcmp(what, "writes") == 0;
    if (writes || strcmp(what, "compiles") == 0) {
        if (pthread_create(&thread, NULL, spin, &turns) != 0)
            return 1;
        pthread_setname_np(thread, writes ? "piecemeal-write" : "piecemeal");
    }
    srand((unsigned)getpid());
    for (;;) {
        if (strcmp(what, "works") == 0)
            for (volatile int turn = 0; turn < 1000000; turn = turn + 1)
                continue;
        const int shown[2] = {tell_time(strcmp(what, "clocks") == 0),
                              strcmp(what, "differs") == 0 ? (int)getpid() : rand()};
        memcpy(stepped_picture, shown, sizeof shown);
        show(what);
    }
}
