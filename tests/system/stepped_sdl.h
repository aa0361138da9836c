/*
 * What stepped_game.c asks of the SDL that it is linked to. Not thread-safe.
 */
#pragma once

#define STEPPED_EXPORTED __attribute__((visibility("default")))

/* Two pixels of four bytes, which the next frame shows. */
extern STEPPED_EXPORTED unsigned char stepped_picture[8];

STEPPED_EXPORTED void SDL_GL_SwapWindow(void *window);
/* The function of OpenGL; NULL: there is none of the name. */
STEPPED_EXPORTED void *SDL_GL_GetProcAddress(const char *name);
