/*
 * A game for bench/cost/step_frames.c: it shows frames without an end, whose picture is the time
 * and a random number of those that begin with the process's id. "differs": and the process's id.
 * "compiles": a thread that is called as the layer's compile threads are never rests. "works": each
 * frame takes a million turns of a loop.
 */
#include "stepped_sdl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static void *spin(void *user)
{
    for (volatile int *turns = user;; *turns = *turns ^ 1)
        continue;
    return NULL;
}

int main(int argc, char **argv)
{
    static int turns;
    const char *what = argc > 1 ? argv[1] : "";
    pthread_t thread;
    if (strcmp(what, "compiles") == 0) {
        if (pthread_create(&thread, NULL, spin, &turns) != 0)
            return 1;
        pthread_setname_np(thread, "piecemeal");
    }
    srand((unsigned)getpid());
    for (;;) {
        struct timeval now;
        if (strcmp(what, "works") == 0)
            for (volatile int turn = 0; turn < 1000000; turn = turn + 1)
                continue;
        gettimeofday(&now, NULL);
        const int shown[2] = {(int)(now.tv_sec * 1000000 + now.tv_usec),
                              strcmp(what, "differs") == 0 ? (int)getpid() : rand()};
        memcpy(stepped_picture, shown, sizeof shown);
        SDL_GL_SwapWindow(NULL);
    }
}
