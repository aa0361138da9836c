/*
 * What stepped_game.c asks of the library that it is linked to, SDL and others. Not thread-safe.
 */
#pragma once

#include <stdint.h>

#define STEPPED_EXPORTED __attribute__((visibility("default")))

/* Two pixels of four bytes, which the next frame shows. */
extern STEPPED_EXPORTED unsigned char stepped_picture[8];

STEPPED_EXPORTED void SDL_GL_SwapWindow(void *window);
/* The function of OpenGL; NULL: there is none of the name. */
STEPPED_EXPORTED void *SDL_GL_GetProcAddress(const char *name);

/* What the game shows otherwise: a function of Vulkan; NULL: there is none of the name. A picture
 * for the encoder. */
STEPPED_EXPORTED void glXSwapBuffers(void *display, unsigned long drawable);
STEPPED_EXPORTED void *glXGetProcAddressARB(const char *name);
STEPPED_EXPORTED void *vkGetInstanceProcAddr(void *instance, const char *name);
STEPPED_EXPORTED int avcodec_send_frame(void *encoder, const void *frame);

STEPPED_EXPORTED uint32_t SDL_GetTicks(void);
STEPPED_EXPORTED uint64_t SDL_GetPerformanceCounter(void);
STEPPED_EXPORTED uint64_t SDL_GetPerformanceFrequency(void);
STEPPED_EXPORTED void SDL_Delay(uint32_t milliseconds);
