#include "layer/core/identity.h"

#include "base/file.h"
#include "base/name.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Executables as /proc/self/exe names them. The shader keys of a browser would say which pages were
 * open, a compositor's which programs, a launcher is no game. */
static const char *const browsers[] = {"brave",
                                       "brave-browser",
                                       "chrome",
                                       "chromium",
                                       "chromium-browser",
                                       "electron",
                                       "epiphany",
                                       "falkon",
                                       "firefox",
                                       "firefox-esr",
                                       "librewolf",
                                       "midori",
                                       "msedge",
                                       "opera",
                                       "qutebrowser",
                                       "QtWebEngineProcess",
                                       "tor-browser",
                                       "vivaldi-bin",
                                       "WebKitWebProcess",
                                       NULL};
static const char *const compositors[] = {
    "Xorg",        "Xephyr",    "Xnest",        "Xvfb",        "Xwayland", "cage",
    "cosmic-comp", "gamescope", "gamescope-wl", "gnome-shell", "Hyprland", "kwin_wayland",
    "kwin_x11",    "labwc",     "mutter",       "niri",        "picom",    "plasmashell",
    "river",       "sway",      "wayfire",      "weston",      NULL};
static const char *const launchers[] = {
    "bottles",       "gamemoded", "heroic",         "itch",      "lutris", "minigalaxy",
    "prismlauncher", "steam",     "steamwebhelper", "piecemeal", NULL};

static bool is_in(const char *const *list, const char *name)
{
    for (; *list != NULL; list++) {
        if (strcmp(*list, name) == 0)
            return true;
    }
    return false;
}

const char *pm_identity_denied(const char *executable)
{
    if (getauxval(AT_SECURE) != 0)
        return "it runs with raised privileges";
    if (executable == NULL)
        return NULL;
    if (is_in(browsers, executable))
        return "it is a browser";
    if (is_in(compositors, executable))
        return "it is a compositor";
    if (is_in(launchers, executable))
        return "it is a launcher";
    return NULL;
}

/* The first argument's last component, with either kind of slash. */
static char *windows_program(void)
{
    char line[4096];
    FILE *file = fopen("/proc/self/cmdline", "re");
    if (file == NULL)
        return NULL;
    size_t size = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    line[size] = '\0';
    const char *name = line;
    for (const char *at = line; *at != '\0'; at++) {
        if (*at == '/' || *at == '\\')
            name = at + 1;
    }
    return *name != '\0' ? strdup(name) : NULL;
}

char *pm_identity_executable(void)
{
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0)
        return NULL;
    path[size] = '\0';
    /* So the kernel marks a file that is gone: a browser that was upgraded while it runs is still
     * one. */
    static const char gone[] = " (deleted)";
    const size_t mark = sizeof gone - 1;
    if ((size_t)size > mark && strcmp(path + size - mark, gone) == 0)
        path[(size_t)size - mark] = '\0';
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (strncmp(name, "wine", 4) == 0) {
        char *program = windows_program();
        if (program != NULL)
            return program;
    }
    return strdup(name);
}

char *pm_identity_name(const char *application, const char *executable)
{
    const char *const found[] = {application, executable};
    for (int i = 0; i < 2; i++) {
        if (found[i] != NULL && pm_game_check(found[i], "", PM_NAME_BYTES, NULL))
            return strdup(found[i]);
    }
    return strdup("unknown");
}
