/*
 * SDL 2, OpenGL with GLX, Vulkan and ffmpeg as far as bench/common/step_frames.c knows them, for
 * stepped_game.c: a picture of two pixels, which the game sets, and clocks that every process has
 * otherwise.
 */
#include "stepped_sdl.h"

#include <string.h>
#include <unistd.h>

unsigned char stepped_picture[8];

void SDL_GL_SwapWindow(void *window)
{
    (void)window;
}

static void finish(void)
{
}

static void get_viewport(unsigned name, int *values)
{
    (void)name;
    const int viewport[4] = {0, 0, 2, 1};
    memcpy(values, viewport, sizeof viewport);
}

static void read_pixels(int x, int y, int width, int height, unsigned format, unsigned type,
                        void *pixels)
{
    (void)x, (void)y, (void)width, (void)height, (void)format, (void)type;
    memcpy(pixels, stepped_picture, sizeof stepped_picture);
}

void *SDL_GL_GetProcAddress(const char *name)
{
    return strcmp(name, "glFinish") == 0        ? (void *)finish
           : strcmp(name, "glGetIntegerv") == 0 ? (void *)get_viewport
           : strcmp(name, "glReadPixels") == 0  ? (void *)read_pixels
                                                : NULL;
}

uint32_t SDL_GetTicks(void)
{
    return (uint32_t)getpid();
}

uint64_t SDL_GetPerformanceCounter(void)
{
    return (uint64_t)getpid();
}

uint64_t SDL_GetPerformanceFrequency(void)
{
    return (uint64_t)getpid();
}

void SDL_Delay(uint32_t milliseconds)
{
    usleep(1000 * milliseconds);
}

void glXSwapBuffers(void *display, unsigned long drawable)
{
    (void)display, (void)drawable;
}

void *glXGetProcAddressARB(const char *name)
{
    return strcmp(name, "glXSwapBuffers") == 0 ? (void *)glXSwapBuffers
                                               : SDL_GL_GetProcAddress(name);
}

static int present(void *queue, const void *info)
{
    (void)queue, (void)info;
    return 0;
}

static int wait_idle(void *queue)
{
    (void)queue;
    return 0;
}

static void *get_of_device(void *device, const char *name)
{
    (void)device;
    return strcmp(name, "vkQueuePresentKHR") == 0 ? (void *)present
           : strcmp(name, "vkQueueWaitIdle") == 0 ? (void *)wait_idle
                                                  : NULL;
}

void *vkGetInstanceProcAddr(void *instance, const char *name)
{
    (void)instance;
    return strcmp(name, "vkGetDeviceProcAddr") == 0 ? (void *)get_of_device : NULL;
}

int avcodec_send_frame(void *encoder, const void *frame)
{
    (void)encoder, (void)frame;
    return 0;
}
