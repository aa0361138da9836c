/*
 * SDL 2 and OpenGL as far as bench/cost/step_frames.c knows them, for stepped_game.c: a picture of
 * two pixels, which the game sets.
 */
#include "stepped_sdl.h"

#include <string.h>

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
