/*
 * What bgfx's examples need to be compared, and to present by DXVK's native libraries. Linked
 * around their functions with --wrap, by the names that a C++ compiler gives them, so that none of
 * their sources changes:
 *
 * - the window is an SDL window that Vulkan can present to, which is also what DXVK takes for one;
 * - PM_BGFX_FRAMES: how many frames there are, of which three become pictures in the folder
 *   PM_BGFX_PICTURES, drawn by a clock of each thread's own, which each look at it advances;
 * - PM_BGFX_SECONDS: how long it runs by the real clock instead; without either, until it is ended;
 * - no dialog, which shows times.
 */
#include <SDL2/SDL.h>
#include <bgfx/c99/bgfx.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int number(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? atoi(value) : 0;
}

SDL_Window *__real_SDL_CreateWindow(const char *title, int x, int y, int width, int height,
                                    Uint32 flags);
SDL_Window *__wrap_SDL_CreateWindow(const char *title, int x, int y, int width, int height,
                                    Uint32 flags);
SDL_Window *__wrap_SDL_CreateWindow(const char *title, int x, int y, int width, int height,
                                    Uint32 flags)
{
    return __real_SDL_CreateWindow(title, x, y, width, height, flags | SDL_WINDOW_VULKAN);
}

/* void *entry::getNativeWindowHandle(entry::WindowHandle) */
void *__wrap__ZN5entry21getNativeWindowHandleENS_12WindowHandleE(uint16_t handle);
void *__wrap__ZN5entry21getNativeWindowHandleENS_12WindowHandleE(uint16_t handle)
{
    (void)handle;
    return SDL_GetWindowFromID(1);
}

/* int64_t bx::getHPCounter(), in microseconds */
int64_t __real__ZN2bx12getHPCounterEv(void);
int64_t __wrap__ZN2bx12getHPCounterEv(void);
int64_t __wrap__ZN2bx12getHPCounterEv(void)
{
    static _Thread_local int64_t now = 0;
    return number("PM_BGFX_FRAMES") > 0 ? now += 4000 : __real__ZN2bx12getHPCounterEv();
}

/* uint32_t bgfx::frame(uint8_t) */
uint32_t __real__ZN4bgfx5frameEh(uint8_t flags);
uint32_t __wrap__ZN4bgfx5frameEh(uint8_t flags);
uint32_t __wrap__ZN4bgfx5frameEh(uint8_t flags)
{
    static int frame = 0;
    static time_t began = 0;
    const int frames = number("PM_BGFX_FRAMES"), seconds = number("PM_BGFX_SECONDS");
    const char *folder = getenv("PM_BGFX_PICTURES");
    frame++;
    if (began == 0)
        began = time(NULL);
    if (folder != NULL && frames > 0 &&
        (frame == frames / 3 || frame == frames / 2 || frame == frames - 4)) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%d", folder, frame);
        bgfx_request_screen_shot((bgfx_frame_buffer_handle_t){UINT16_MAX}, path);
    }
    if (frame == frames || (seconds > 0 && time(NULL) - began >= seconds))
        SDL_PushEvent(&(SDL_Event){.type = SDL_QUIT});
    return __real__ZN4bgfx5frameEh(flags);
}

/* void showExampleDialog(entry::AppI *, const char *) */
void __wrap__Z17showExampleDialogPN5entry4AppIEPKc(void *app, const char *error);
void __wrap__Z17showExampleDialogPN5entry4AppIEPKc(void *app, const char *error)
{
    (void)app;
    (void)error;
}

/* What entry::main runs where no example is built in. */
int _main_(int argc, char **argv);
int _main_(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 1;
}
