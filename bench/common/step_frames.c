/*
 * Preloaded into a program (LD_PRELOAD): it draws a frame when it is told to, and the same frames
 * in each process, so that processes can be compared frame by frame (stepped.py). The program
 * shows its frames with OpenGL by SDL 2 or GLX, with Vulkan, which it is linked with, or it filters
 * them with ffmpeg and encodes each.
 *
 * When a frame is shown and all of its work is done, a line goes to the descriptor that STEP_TELL
 * names, and a byte is waited for on STEP_WAIT's: '.' for one more frame, '#' for one whose picture
 * is summed up, so that its line says whether two processes drew the same (OpenGL alone; 0 of the
 * others); where there is no byte any more the program is asked to end. The time is made up
 * (step_clock.h).
 *
 * Thread safety: the program shows frames on one thread.
 */
#include "bench/common/step_clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAME_MICROSECONDS = 20000 };

/* Of OpenGL. */
enum { RGBA = 0x1908, UNSIGNED_BYTE = 0x1401, VIEWPORT = 0x0ba2 };

typedef void *get_function(const char *name);
typedef void *get_object_function(void *object, const char *name);

PM_PRELOADED void SDL_GL_SwapWindow(void *window);
PM_PRELOADED void *vkGetInstanceProcAddr(void *instance, const char *name);
PM_PRELOADED int avcodec_send_frame(void *encoder, const void *frame);

/* FNV-1a of the picture that is drawn; 0: there is no memory for it. */
static uint64_t sum_picture(get_function *get)
{
    int viewport[4] = {0};
    ((void (*)(unsigned, int *))get("glGetIntegerv"))(VIEWPORT, viewport);
    const size_t size = 4 * (size_t)viewport[2] * (size_t)viewport[3];
    unsigned char *pixels = malloc(size ? size : 1);
    if (pixels == NULL)
        return 0;
    ((void (*)(int, int, int, int, unsigned, unsigned, void *))get("glReadPixels"))(
        0, 0, viewport[2], viewport[3], RGBA, UNSIGNED_BYTE, pixels);
    uint64_t sum = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ pixels[i]) * UINT64_C(1099511628211);
    free(pixels);
    return sum;
}

/* ---- steps ---- */

static char asked = '.';

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

static bool wait_for_byte(int wait)
{
    ssize_t got;
    do
        got = read(wait, &asked, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

/* A frame is shown, and all of its work is done. */
static void step(uint64_t picture)
{
    static bool ends;
    pm_step_clock_pass(FRAME_MICROSECONDS);
    const int wait = descriptor("STEP_WAIT"), tell = descriptor("STEP_TELL");
    if (wait < 0 || tell < 0 || ends)
        return;
    if (!tell_picture(tell, picture) || !wait_for_byte(wait)) {
        ends = true;
        kill(getpid(), SIGTERM);
    }
}

/* ---- OpenGL ---- */

/* SDL shows by GLX itself. */
static bool in_show;

/* The work is done before the present, which does not wait for what is drawn, and after it. */
static uint64_t begin_show(get_function *get)
{
    const uint64_t picture = asked == '#' ? sum_picture(get) : 0;
    ((void (*)(void))get("glFinish"))();
    in_show = true;
    return picture;
}

static void end_show(get_function *get, uint64_t picture)
{
    in_show = false;
    ((void (*)(void))get("glFinish"))();
    step(picture);
}

static void *get_of_sdl(const char *name)
{
    return ((get_function *)pm_step_find("SDL_GL_GetProcAddress"))(name);
}

void SDL_GL_SwapWindow(void *window)
{
    const uint64_t picture = begin_show(get_of_sdl);
    ((void (*)(void *))pm_step_find("SDL_GL_SwapWindow"))(window);
    end_show(get_of_sdl, picture);
}

/* Of the library that the program has opened. */
static get_function *get_of_glx;

static void show_by_glx(void *display, unsigned long drawable)
{
    void (*show)(void *, unsigned long) =
        (void (*)(void *, unsigned long))get_of_glx("glXSwapBuffers");
    if (in_show) {
        show(display, drawable);
        return;
    }
    const uint64_t picture = begin_show(get_of_glx);
    show(display, drawable);
    end_show(get_of_glx, picture);
}

static void *get_or_show(const char *name)
{
    return strcmp(name, "glXSwapBuffers") == 0 ? (void *)show_by_glx : get_of_glx(name);
}

/* Programs open libGL themselves, and ask what it has. What they find of GLX is ours. */
PM_PRELOADED void *dlsym(void *restrict library, const char *restrict name)
{
    static get_object_function *next;
    if (next == NULL) {
        next = (get_object_function *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
        if (next == NULL)
            next = (get_object_function *)dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
        if (next == NULL)
            _exit(1);
    }
    void *found = next(library, name);
    if (found == NULL || strncmp(name, "glX", 3) != 0)
        return found;
    if (get_of_glx == NULL)
        get_of_glx = (get_function *)next(library, "glXGetProcAddressARB");
    if (get_of_glx == NULL)
        return found;
    if (strcmp(name, "glXGetProcAddress") == 0 || strcmp(name, "glXGetProcAddressARB") == 0)
        return (void *)get_or_show;
    return strcmp(name, "glXSwapBuffers") == 0 ? (void *)show_by_glx : found;
}

/* ---- Vulkan ---- */

static struct {
    get_object_function *get_of_device;
    int (*present)(void *queue, const void *info);
    int (*wait)(void *queue);
} vulkan;

static int present(void *queue, const void *info)
{
    const int result = vulkan.present(queue, info);
    vulkan.wait(queue);
    step(0);
    return result;
}

static void *get_of_device(void *device, const char *name)
{
    void *found = vulkan.get_of_device(device, name);
    if (found == NULL || strcmp(name, "vkQueuePresentKHR") != 0)
        return found;
    vulkan.present = (int (*)(void *, const void *))found;
    vulkan.wait = (int (*)(void *))vulkan.get_of_device(device, "vkQueueWaitIdle");
    return (void *)present;
}

void *vkGetInstanceProcAddr(void *instance, const char *name)
{
    void *found = ((get_object_function *)pm_step_find("vkGetInstanceProcAddr"))(instance, name);
    if (found == NULL || strcmp(name, "vkGetDeviceProcAddr") != 0)
        return found;
    vulkan.get_of_device = (get_object_function *)found;
    return (void *)get_of_device;
}

/* ---- ffmpeg ---- */

/* Without a frame the encoder is at its end. Filters' frames are on the host, so they are done. */
int avcodec_send_frame(void *encoder, const void *frame)
{
    const int result =
        ((int (*)(void *, const void *))pm_step_find("avcodec_send_frame"))(encoder, frame);
    if (frame != NULL)
        step(0);
    return result;
}
