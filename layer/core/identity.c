#include "layer/core/identity.h"

#include "base/name.h"
#include "base/shared_name.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* ---- paths, with either kind of slash ---- */

static bool is_slash(char character)
{
    return character == '/' || character == '\\';
}

/* The beginning of the part of a path that ends there. */
static size_t part_start(const char *path, size_t end)
{
    while (end > 0 && !is_slash(path[end - 1]))
        end--;
    return end;
}

/* ---- who is left alone ---- */

/* Executables without .exe, in any case. The shader keys of a browser would say which pages were
 * open, a compositor's which programs, a launcher is no game. */
static const char *const browsers[] = {"brave",
                                       "brave-browser",
                                       "chrome",
                                       "chromium",
                                       "chromium-browser",
                                       "code",
                                       "code-oss",
                                       "codium",
                                       "Discord",
                                       "DiscordCanary",
                                       "DiscordPTB",
                                       "electron",
                                       "element-desktop",
                                       "epiphany",
                                       "falkon",
                                       "firefox",
                                       "firefox-esr",
                                       "librewolf",
                                       "midori",
                                       "msedge",
                                       "msedgewebview2",
                                       "opera",
                                       "QtWebEngineProcess",
                                       "qutebrowser",
                                       "signal-desktop",
                                       "slack",
                                       "spotify",
                                       "teams",
                                       "tor-browser",
                                       "vivaldi",
                                       "vivaldi-bin",
                                       "WebKitWebProcess",
                                       NULL};
static const char *const compositors[] = {
    "Xorg",        "Xephyr",    "Xnest",        "Xvfb",        "Xwayland", "cage",
    "cosmic-comp", "gamescope", "gamescope-wl", "gnome-shell", "Hyprland", "kwin_wayland",
    "kwin_x11",    "labwc",     "mutter",       "niri",        "picom",    "plasmashell",
    "river",       "sway",      "wayfire",      "weston",      NULL};
static const char *const launchers[] = {"Battle.net",
                                        "Battle.net Helper",
                                        "bottles",
                                        "EABackgroundService",
                                        "EADesktop",
                                        "EpicGamesLauncher",
                                        "EpicWebHelper",
                                        "GalaxyClient",
                                        "GalaxyClient Helper",
                                        "gamemoded",
                                        "heroic",
                                        "itch",
                                        "lutris",
                                        "minigalaxy",
                                        "Origin",
                                        "OriginWebHelperService",
                                        "piecemeal",
                                        "prismlauncher",
                                        "steam",
                                        "steamwebhelper",
                                        "UbisoftConnect",
                                        "upc",
                                        "UplayWebCore",
                                        NULL};

/* Where Wine has programs of its own, and Windows' folder, in which no game is: what a program of
 * Windows was started as, and the file of one of Wine's (process.h). */
static bool is_of_wine(const struct pm_process *process)
{
    static const char *const own[] = {"aarch64-windows", "i386-windows", "x86_64-windows", NULL};
    static const char *const of_windows[] = {"system32", "syswow64", NULL};
    const char *folder = process->folder != NULL ? process->folder : "";
    const size_t size = strlen(folder), start = part_start(folder, size);
    if (pm_name_is_in(own, folder + start, size - start))
        return true;
    const size_t above = start > 0 ? part_start(folder, start - 1) : 0;
    static const char *const windows[] = {"windows", NULL};
    return pm_name_is_in(of_windows, folder + start, size - start) && start > 0 &&
           pm_name_is_in(windows, folder + above, start - 1 - above);
}

/* Chromium's processes, whatever program they are of, say of which type they are. */
static bool is_chromium_process(const struct pm_process *process)
{
    const char *argument = pm_process_argument(process, NULL);
    while (argument != NULL && (argument = pm_process_argument(process, argument)) != NULL) {
        if (strncmp(argument, "--type=", 7) == 0)
            return true;
    }
    return false;
}

const char *pm_identity_denied(const struct pm_process *process, const char *engine)
{
    if (getauxval(AT_SECURE) != 0)
        return "it runs with raised privileges";
    const char *executable = process->executable != NULL ? process->executable : "";
    const size_t size = pm_name_stem(executable, strlen(executable));
    if (pm_name_is_in(browsers, executable, size) || is_chromium_process(process) ||
        process->has_cef)
        return "it is a browser";
    if (pm_name_is_in(compositors, executable, size))
        return "it is a compositor";
    if (pm_name_is_in(launchers, executable, size))
        return "it is a launcher";
    /* Wine's explorer asks for the devices that there are (read). */
    if (is_of_wine(process))
        return "it is a part of Wine";
    /* OpenGL ES for browsers. */
    if (engine != NULL && strcasecmp(engine, "ANGLE") == 0)
        return "it draws by ANGLE, as browsers do";
    return NULL;
}

/* ---- what a launcher calls the game ---- */

/* Launchers, which other than in their Flatpaks say what they run. */
static const char *const flatpaks_of_launchers[] = {"com.heroicgameslauncher.hgl",
                                                    "com.usebottles.bottles",
                                                    "com.valvesoftware.Steam",
                                                    "io.itch.itch",
                                                    "net.lutris.Lutris",
                                                    "org.prismlauncher.PrismLauncher",
                                                    NULL};

/* The variable, where it has something in it that can be a part of a name. */
static const char *variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value != NULL && pm_game_check(value, "", PM_NAME_BYTES, NULL) ? value : NULL;
}

/* A number of Steam's, which is the same for all players: not 0, and not what Steam makes up for a
 * program that the player added, which is above 32 bits. */
static bool is_steam_number(const char *text)
{
    return text != NULL && strspn(text, "0123456789") == strlen(text) && strlen(text) <= 10 &&
           strspn(text, "0") != strlen(text) && strtoull(text, NULL, 10) <= UINT32_MAX;
}

static char *joined(const char *a, const char *b, const char *c)
{
    char *text = NULL;
    return asprintf(&text, "%s%s%s", a, b, c) < 0 ? NULL : text;
}

/* malloc'ed; NULL: none. */
static char *launcher_name(void)
{
    static const char *const steam[] = {"SteamAppId", "SteamGameId", "STEAM_COMPAT_APP_ID"};
    for (size_t i = 0; i < sizeof steam / sizeof *steam; i++) {
        const char *number = variable(steam[i]);
        if (is_steam_number(number))
            return joined("steam-", number, "");
    }
    const char *store = variable("HEROIC_APP_SOURCE"), *name = variable("HEROIC_APP_NAME");
    /* What the player added has a random name. */
    if (store != NULL && name != NULL && strcmp(store, "sideload") != 0) {
        char *begin = joined(store, "-", "");
        char *text = begin != NULL ? joined(begin, name, "") : NULL;
        free(begin);
        return text;
    }
    if (variable("LUTRIS_GAME_UUID") != NULL) {
        name = variable("GAME_NAME");
        name = name != NULL ? name : variable("game_name");
        if (name != NULL)
            return strdup(name);
    }
    name = variable("FLATPAK_ID");
    return name != NULL && !pm_name_is_in(flatpaks_of_launchers, name, strlen(name)) ? strdup(name)
                                                                                     : NULL;
}

/* ---- many games on one engine ---- */

/* Arguments that say where an engine's game is, or which it is. What a player chooses (a home, a
 * user's folder) is not among them. Of another program than an engine any may be a player's file.
 */
static const char *const data_arguments[] = {
    "-basedir", "-datadir",     "-game",       "-iwad",       "-mod",    "--main-pack",
    "--path",   "com_basegame", "fs_basegame", "fs_basepath", "fs_game", NULL};

/* Folders that say nothing of what is in them. */
static const char *const plain_folders[] = {"bin",
                                            "bin32",
                                            "bin64",
                                            "Binaries",
                                            "games",
                                            "home",
                                            "lib",
                                            "lib64",
                                            "libexec",
                                            "linux",
                                            "Linux",
                                            "linux-i686",
                                            "linux-x86_64",
                                            "linux64",
                                            "local",
                                            "opt",
                                            "py2-linux-i686",
                                            "py2-linux-x86_64",
                                            "py3-linux-aarch64",
                                            "py3-linux-i686",
                                            "py3-linux-x86_64",
                                            "py3-windows-x86_64",
                                            "root",
                                            "sbin",
                                            "share",
                                            "system32",
                                            "tmp",
                                            "usr",
                                            "Win32",
                                            "Win64",
                                            "x64",
                                            "x86",
                                            "x86_64",
                                            "x86_64-linux-gnu",
                                            NULL};

/* The root of a Windows program's files, as C: is, and not a part of the game. */
static const char wine_root[] = "drive_c";

/* Folders whose folders are called as people are. */
static const char *const of_people[] = {"home", "media", "users", NULL};

static bool is_home(const char *path, size_t start, size_t end)
{
    const char *home = secure_getenv("HOME");
    if (home != NULL && strncmp(path, home, end) == 0 && (home[end] == '\0' || home[end] == '/'))
        return true;
    const size_t above = start > 0 ? part_start(path, start - 1) : 0;
    return start > 0 && pm_name_is_in(of_people, path + above, start - 1 - above);
}

/* The last part of a path that says what game it is; it is no hidden folder, and no home, whose
 * name is a player's. In *size its length; NULL: it has none. */
static const char *telling_part(const char *path, size_t *size)
{
    for (size_t end = strlen(path), start;; end = start) {
        while (end > 0 && is_slash(path[end - 1]))
            end--;
        start = part_start(path, end);
        if (start == end || path[start] == '.' || path[end - 1] == ':' || is_home(path, start, end))
            return NULL;
        if (end - start == strlen(wine_root) && strncmp(path + start, wine_root, end - start) == 0)
            return NULL;
        if (!pm_name_is_in(plain_folders, path + start, end - start)) {
            *size = end - start;
            return path + start;
        }
    }
}

/* The name of the folder with the game's data: of an engine by the arguments, else the
 * executable's. */
static const char *data_folder(const struct pm_process *process, enum pm_shared_name shared,
                               size_t *size)
{
    const char *argument = NULL, *found = NULL;
    while (shared == PM_SHARED_ENGINE && found == NULL &&
           (argument = pm_process_argument(process, argument)) != NULL) {
        const size_t name = strcspn(argument, "=");
        if (!pm_name_is_in(data_arguments, argument, name))
            continue;
        const char *path =
            argument[name] == '=' ? argument + name + 1 : pm_process_argument(process, argument);
        if (path != NULL)
            found = telling_part(path, size);
    }
    return found == NULL && process->folder != NULL ? telling_part(process->folder, size) : found;
}

/* An engine's or a library's game: "ioquake3 (baseoa)", "Godot (game.x86_64, game)";
 * pm_shared_name_in takes it apart. */
static char *game_of_engine(const struct pm_process *process, const char *engine,
                            enum pm_shared_name shared)
{
    const char *executable = process->executable;
    size_t size = 0;
    const char *folder = data_folder(process, shared, &size);
    if (folder != NULL && size == strlen(engine) && strncasecmp(folder, engine, size) == 0)
        folder = NULL; /* the engine's own */
    const bool has_executable = executable != NULL && strcasecmp(executable, engine) != 0;
    if (!has_executable && folder == NULL)
        return strdup(engine);
    char *text = NULL;
    const int length = asprintf(&text, "%s (%s%s%.*s)", engine, has_executable ? executable : "",
                                has_executable && folder != NULL ? ", " : "", (int)size,
                                folder != NULL ? folder : "");
    return length < 0 ? NULL : text;
}

char *pm_identity_name(const struct pm_process *process, const char *application)
{
    char *launched = launcher_name();
    if (launched != NULL && pm_game_check(launched, "", PM_NAME_BYTES, NULL))
        return launched;
    free(launched);
    const char *const found[] = {application, process->executable};
    for (int i = 0; i < 2; i++) {
        if (found[i] == NULL || !pm_game_check(found[i], "", PM_NAME_BYTES, NULL))
            continue;
        const enum pm_shared_name shared = pm_shared_name(found[i], strlen(found[i]));
        if (shared == PM_SHARED_NONE)
            return strdup(found[i]);
        char *name = game_of_engine(process, found[i], shared);
        if (name == NULL || pm_game_check(name, "", PM_NAME_BYTES, NULL))
            return name;
        free(name);
        return strdup(found[i]);
    }
    return strdup("unknown");
}
