/*
 * Preloaded into a game that draws with OpenGL by SDL 2 (LD_PRELOAD): it draws a frame when it is
 * told to, and the same frames in each process, so that processes can be compared frame by frame
 * (stepped.py).
 *
 * When a frame is shown and all of its work is done, a line goes to the descriptor that STEP_TELL
 * names, and a byte is waited for on STEP_WAIT's: '.' for one more frame, '#' for one whose picture
 * is summed up, so that its line says whether two processes drew the same; where there is no byte
 * any more the game is asked to end. What gettimeofday says is made up: 20 ms a frame, and a
 * microsecond each time it is asked, so that a loop that waits ends. Other clocks go on as they
 * are: this is for games that keep time by that one, as OpenArena does. Random numbers begin alike.
 *
 * Thread safety: the game shows frames on one thread; it may ask for the time on any.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { FRAME_MICROSECONDS = 20000, SECOND = 1000000 };

/* Of OpenGL. */
enum { RGBA = 0x1908, UNSIGNED_BYTE = 0x1401, VIEWPORT = 0x0ba2 };

/* Taken instead of the C library's and SDL's. */
#define PRELOADED __attribute__((visibility("default")))

static _Atomic uint64_t game_time = UINT64_C(1700000000) * SECOND;

PRELOADED int gettimeofday(struct timeval *restrict now, void *restrict zone);
PRELOADED void srand(unsigned seed);
PRELOADED void SDL_GL_SwapWindow(void *window);

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    (void)zone;
    const uint64_t time = atomic_fetch_add(&game_time, 1);
    now->tv_sec = (time_t)(time / SECOND);
    now->tv_usec = (suseconds_t)(time % SECOND);
    return 0;
}

void srand(unsigned seed)
{
    (void)seed;
}

/* Ends the program where SDL lacks it. */
static void *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) {
        fprintf(stderr, "step_frames: there is no %s\n", name);
        _exit(1);
    }
    return found;
}

static void *find_gl(const char *name)
{
    return ((void *(*)(const char *))find("SDL_GL_GetProcAddress"))(name);
}

/* FNV-1a of the picture that is drawn; 0: there is no memory for it. */
static uint64_t sum_picture(void)
{
    int viewport[4] = {0};
    ((void (*)(unsigned, int *))find_gl("glGetIntegerv"))(VIEWPORT, viewport);
    const size_t size = 4 * (size_t)viewport[2] * (size_t)viewport[3];
    unsigned char *pixels = malloc(size ? size : 1);
    if (pixels == NULL)
        return 0;
    ((void (*)(int, int, int, int, unsigned, unsigned, void *))find_gl("glReadPixels"))(
        0, 0, viewport[2], viewport[3], RGBA, UNSIGNED_BYTE, pixels);
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ pixels[i]) * UINT64_C(1099511628211);
    free(pixels);
    return sum;
}

static int descriptor(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? atoi(text) : -1;
}

/* Both go on when a signal comes between. */
static bool tell_picture(int tell, uint64_t picture)
{
    int told;
    do
        told = dprintf(tell, "%016llx\n", (unsigned long long)picture);
    while (told < 0 && errno == EINTR);
    return told >= 0;
}

static bool wait_for_byte(int wait, char *asked)
{
    ssize_t got;
    do
        got = read(wait, asked, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

void SDL_GL_SwapWindow(void *window)
{
    static char asked = '.';
    static bool ends;
    const uint64_t picture = asked == '#' ? sum_picture() : 0;
    /* Before the present, which does not wait for what is drawn, and after it. */
    void (*finish)(void) = (void (*)(void))find_gl("glFinish");
    finish();
    ((void (*)(void *))find("SDL_GL_SwapWindow"))(window);
    finish();
    atomic_fetch_add(&game_time, FRAME_MICROSECONDS);
    const int wait = descriptor("STEP_WAIT"), tell = descriptor("STEP_TELL");
    if (wait < 0 || tell < 0 || ends)
        return;
    if (!tell_picture(tell, picture) || !wait_for_byte(wait, &asked)) {
        ends = true;
        kill(getpid(), SIGTERM);
    }
}
