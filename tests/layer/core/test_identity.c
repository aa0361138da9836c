#include "layer/core/identity.h"

#include "tests/cmocka_includes.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process as it may be; arguments: each with its zero, a further one at the end. */
static struct pm_process process_of(const char *folder, const char *executable,
                                    const char *arguments)
{
    size_t size = 0;
    while (arguments[size] != '\0')
        size += strlen(arguments + size) + 1;
    return (struct pm_process){.executable = (char *)(uintptr_t)executable,
                               .folder = (char *)(uintptr_t)folder,
                               .arguments = (char *)(uintptr_t)arguments,
                               .arguments_size = size};
}

static void expect_name(const struct pm_process *process, const char *application,
                        const char *expected)
{
    char *name = pm_identity_name(process, application);
    assert_string_equal(name, expected);
    free(name);
}

static void names(void **state)
{
    (void)state;
    struct pm_process quake = process_of("/opt/quake", "quake.x86_64", "quake.x86_64\0");
    expect_name(&quake, "Quake", "Quake");
    expect_name(&quake, "", "quake.x86_64");
    /* What no upload could carry. */
    static const char *const bad[] = {".", "..", "a\nb", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        expect_name(&quake, bad[i], "quake.x86_64");
        const struct pm_process other = process_of(NULL, bad[i], "");
        expect_name(&other, NULL, "unknown");
    }
    const struct pm_process unknown = {0};
    expect_name(&unknown, NULL, "unknown");
    struct pm_process self;
    pm_process_read(&self);
    assert_string_equal(self.executable, "test_layer_identity");
    assert_string_equal(strrchr(self.folder, '/'), "/core");
    assert_non_null(strstr(pm_process_argument(&self, NULL), "test_layer_identity"));
    assert_null(pm_process_argument(&self, pm_process_argument(&self, NULL)));
    pm_process_finish(&self);
}

static void names_by_launchers(void **state)
{
    (void)state;
    static const struct {
        const char *variables[8]; /* names and values in turn */
        const char *expected;
    } cases[] = {
        {{"SteamAppId", "620"}, "steam-620"},
        {{"SteamGameId", "620"}, "steam-620"},
        {{"STEAM_COMPAT_APP_ID", "620"}, "steam-620"},
        {{"SteamAppId", "0", "SteamGameId", "13292154366370054144"}, "Game"},
        {{"SteamAppId", "default"}, "Game"},
        {{"SteamAppId", "620", "FLATPAK_ID", "com.valvesoftware.Steam"}, "steam-620"},
        {{"FLATPAK_ID", "com.valvesoftware.Steam"}, "Game"},
        {{"FLATPAK_ID", "org.openttd.OpenTTD"}, "org.openttd.OpenTTD"},
        {{"HEROIC_APP_NAME", "Quail", "HEROIC_APP_SOURCE", "epic"}, "epic-Quail"},
        {{"HEROIC_APP_NAME", "x7Qp", "HEROIC_APP_SOURCE", "sideload"}, "Game"},
        {{"LUTRIS_GAME_UUID", "5c0e", "GAME_NAME", "The Game"}, "The Game"},
        {{"LUTRIS_GAME_UUID", "5c0e", "game_name", "The Game"}, "The Game"},
        {{"GAME_NAME", "The Game"}, "Game"},
        {{"LUTRIS_GAME_UUID", "5c0e"}, "Game"},
    };
    const struct pm_process game = process_of("/opt/game", "game", "game\0");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t j = 0; cases[i].variables[j] != NULL; j += 2)
            setenv(cases[i].variables[j], cases[i].variables[j + 1], 1);
        expect_name(&game, "Game", cases[i].expected);
        for (size_t j = 0; cases[i].variables[j] != NULL; j += 2)
            unsetenv(cases[i].variables[j]);
    }
}

/* Games on one engine are told from each other, and nothing is told of the player. */
static void names_of_games_on_engines(void **state)
{
    (void)state;
    setenv("HOME", "/home/alice", 1);
    static const struct {
        const char *folder, *executable, *arguments, *application, *expected;
    } cases[] = {
        {"/usr/lib/ioquake3", "ioquake3",
         "ioquake3\0+set\0com_basegame\0baseoa\0+set\0fs_basepath\0/usr/lib/openarena\0",
         "ioquake3", "ioquake3 (baseoa)"},
        {"/usr/lib/ioquake3", "ioquake3", "ioquake3\0+set\0fs_homepath\0/home/alice/q\0",
         "ioquake3", "ioquake3"},
        /* Theirs are called by what they were built for; Quake3e tells Vulkan no name. */
        {"/opt/ioquake3", "ioquake3.x86_64", "ioquake3.x86_64\0+set\0fs_game\0maze\0",
         "ioquake3.x86_64", "ioquake3.x86_64 (maze)"},
        {"/opt/Maze", "quake3e.x64", "quake3e.x64\0", NULL, "quake3e.x64 (Maze)"},
        {"/opt/Maze", "quake3e-vulkan.arm64", "quake3e-vulkan.arm64\0", NULL,
         "quake3e-vulkan.arm64 (Maze)"},
        {"Z:\\games\\Maze", "quake3e.x64.exe", "quake3e\0", NULL, "quake3e.x64.exe (Maze)"},
        {"Z:\\games", "quake3e.exe", "quake3e\0+set\0com_basegame\0baseoa\0", NULL,
         "quake3e.exe (baseoa)"},
        {"/opt/vkQuake", "vkquake", "vkquake\0-game\0maze\0", "vkQuake", "vkQuake (maze)"},
        {"/opt/Maze", "maze.x86_64", "maze.x86_64\0", NULL, "maze.x86_64"},
        {"/usr/lib/games", "nexuiz-sdl", "nexuiz-sdl\0-nexuiz\0-basedir\0/usr/share/games/nexuiz\0",
         "DarkPlaces", "DarkPlaces (nexuiz-sdl, nexuiz)"},
        {"/usr/games", "pyrogenesis", "pyrogenesis\0-mod=0ad\0", "pyrogenesis",
         "pyrogenesis (0ad)"},
        {"/home/alice/Dungeon/bin", "dungeon.x86_64", "dungeon.x86_64\0", "Godot Engine",
         "Godot Engine (dungeon.x86_64, Dungeon)"},
        {"/home/alice", "dungeon.x86_64", "dungeon.x86_64\0", "Godot Engine",
         "Godot Engine (dungeon.x86_64)"},
        {"/var/home/bob/.local/bin", "godot", "godot\0--main-pack\0/home/bob\0", NULL, "godot"},
        {"Z:\\games\\Maze\\Binaries\\Win64", "Maze-Win64-Shipping.exe", "Z:\\x.exe\0",
         "UnrealEngine", "UnrealEngine (Maze-Win64-Shipping.exe, Maze)"},
        {"C:\\users\\bob", "x.exe", "C:\\x.exe\0", "UnrealEngine", "UnrealEngine (x.exe)"},
        {"/home/alice/.wine/drive_c", "x.exe", "x.exe\0", "Unity", "Unity (x.exe)"},
        {"/opt/prefix/drive_c/users/bob", "x.exe", "x\0", "Unity", "Unity (x.exe)"},
        {"/opt/prefix/drive_c/Games/Maze", "x.exe", "x\0", "Unity", "Unity (x.exe, Maze)"},
        {"/opt/dungeon", "dungeon", "dungeon\0", "The Dungeon", "The Dungeon"},
        /* Two of each engine. */
        {"/opt/Dungeon", "Dungeon.x86_64", "x\0", "Unity", "Unity (Dungeon.x86_64, Dungeon)"},
        {"/opt/Maze", "Maze.x86_64", "x\0", "Unity", "Unity (Maze.x86_64, Maze)"},
        {"/opt/Dungeon/lib/py3-linux-x86_64", "pythonw", "x\0", "pythonw", "pythonw (Dungeon)"},
        {"/opt/Maze/lib/py3-linux-x86_64", "pythonw", "x\0", "pythonw", "pythonw (Maze)"},
        {"/opt/Dungeon/lib/py2-linux-i686", "python", "x\0", NULL, "python (Dungeon)"},
        {"/opt/Maze/lib/linux-x86_64", "renpy", "x\0", NULL, "renpy (Maze)"},
        {"/opt/SDK 2013", "hl2_linux", "x\0-game\0/home/alice/mods/dungeon\0", "hl2_linux",
         "hl2_linux (dungeon)"},
        {"/opt/SDK 2013", "hl2_linux", "x\0-game\0maze\0", "hl2_linux", "hl2_linux (maze)"},
        {"Z:\\SDK 2013", "hl2.exe", "x\0-game\0maze\0", "hl2.exe", "hl2.exe (maze)"},
        {"/opt/Dungeon", "dungeon", "x\0", "wgpu", "wgpu (dungeon, Dungeon)"},
        {"/opt/games", "maze", "x\0", "wgpu", "wgpu (maze)"},
        {"/opt/Dungeon/bin", "game", "x\0", "wgpu-hal", "wgpu-hal (game, Dungeon)"},
        {"/opt/Maze/bin", "game", "x\0", "wgpu-hal", "wgpu-hal (game, Maze)"},
        {"/opt/Dungeon", "Dungeon.bin.x86_64", "x\0", "FNA", "FNA (Dungeon.bin.x86_64, Dungeon)"},
        {"/opt/Maze", "Maze.bin.x86_64", "x\0", "FNA", "FNA (Maze.bin.x86_64, Maze)"},
        {"/opt/Dungeon", "mono", "x\0", "FNA3D", "FNA3D (mono, Dungeon)"},
        {"/opt/Maze", "mono", "x\0", "FNA3D", "FNA3D (mono, Maze)"},
        {"/opt/Dungeon", "dungeon", "x\0", "bgfx", "bgfx (dungeon, Dungeon)"},
        {"/opt/Maze", "maze", "x\0", "bgfx", "bgfx (maze, Maze)"},
        /* Of what is no engine an argument may be a player's file. */
        {"/opt/Dungeon", "dungeon", "x\0--path\0/home/alice/diagnosis.png\0", "wgpu",
         "wgpu (dungeon, Dungeon)"},
        {"/opt/Dungeon", "dungeon", "x\0-game=/home/alice/diagnosis\0", "Vulkan Application",
         "Vulkan Application (dungeon, Dungeon)"},
        {"/opt/Dungeon/bin", "java", "x\0-mod\0diagnosis\0", NULL, "java (Dungeon)"},
        {"/opt/Dungeon", "mono", "x\0-iwad\0/home/alice/diagnosis.wad\0", "mono", "mono (Dungeon)"},
        {"/opt/Dungeon", "dotnet", "x\0-datadir\0/home/alice/diagnosis\0", NULL,
         "dotnet (Dungeon)"},
        {"/opt/Dungeon", "python", "x\0--path=/home/alice/diagnosis\0", NULL, "python (Dungeon)"},
        {"/opt/Dungeon", "Godot", "x\0--path\0/opt/maze\0", NULL, "Godot (maze)"},
        /* Dawn and SDL's GPU functions say no name. */
        {"/opt/Dungeon", "dungeon", "x\0", NULL, "dungeon"},
        {"/opt/Maze", "maze", "x\0", NULL, "maze"},
        {"/opt/Dungeon", "dungeon", "x\0", "Vulkan Application",
         "Vulkan Application (dungeon, Dungeon)"},
        {"/opt/Maze", "maze", "x\0", "Vulkan Application", "Vulkan Application (maze, Maze)"},
        {"/opt/Dungeon", "dungeon", "x\0", "VulkanApp", "VulkanApp (dungeon, Dungeon)"},
        {"/opt/Maze", "maze", "x\0", "VulkanApp", "VulkanApp (maze, Maze)"},
        {"/opt/Dungeon", "dungeon", "x\0", "Hello Triangle", "Hello Triangle (dungeon, Dungeon)"},
        {"/opt/Maze", "maze", "x\0", "Hello Triangle", "Hello Triangle (maze, Maze)"},
        /* What an emulator runs is nowhere to be seen, and where it is installed says nothing of it
         * (docs/config.md). */
        {"/opt/pcsx2", "pcsx2-qt", "x\0/home/alice/maze.iso\0", "PCSX2", "PCSX2"},
        {"/usr/bin", "dolphin-emu", "x\0-e\0maze.iso\0", "Dolphin Emulator", "Dolphin Emulator"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pm_process process =
            process_of(cases[i].folder, cases[i].executable, cases[i].arguments);
        expect_name(&process, cases[i].application, cases[i].expected);
    }
}

static bool is_denied(const char *executable, const char *arguments, const char *engine)
{
    const struct pm_process process = process_of("/", executable, arguments);
    return pm_identity_denied(&process, engine) != NULL;
}

static void who_is_left_alone(void **state)
{
    (void)state;
    static const char *const denied[] = {
        "firefox",           "chromium",   "gnome-shell", "steamwebhelper",
        "chrome.exe",        "Chrome.EXE", "msedge.exe",  "steamwebhelper.exe",
        "EpicWebHelper.exe", "Discord",    "code",        "GalaxyClient Helper.exe",
    };
    static const char *const not_denied[] = {"vkcube", "firefoxish", "exe", ".exe", "codec.exe"};
    for (size_t i = 0; i < sizeof denied / sizeof *denied; i++)
        assert_true(is_denied(denied[i], "", NULL));
    for (size_t i = 0; i < sizeof not_denied / sizeof *not_denied; i++)
        assert_false(is_denied(not_denied[i], "x\0--types=a\0-type=b\0", "an engine"));
    assert_true(is_denied("some-program", "", "ANGLE"));
    assert_true(is_denied("some-program", "some-program\0-v\0--type=gpu-process\0", NULL));
    assert_false(is_denied("game", "--type=game\0", NULL)); /* its own name */
    struct pm_process process = process_of("/", "game", "");
    process.has_cef = true;
    assert_non_null(pm_identity_denied(&process, NULL));
    const struct pm_process unknown = {0};
    assert_null(pm_identity_denied(&unknown, NULL));
    /* Seen under Wine 8.0: what its services were started as, and their files. */
    static const char *const of_wine[] = {"C:\\windows\\system32", "c:\\Windows\\SysWOW64",
                                          "/opt/prefix/drive_c/windows/system32",
                                          "/usr/lib/x86_64-linux-gnu/wine/x86_64-windows"};
    static const char *const others[] = {"C:\\Games\\system32", "/opt/windows", "system32", "",
                                         "C:\\windows\\game"};
    process = process_of("", "explorer.exe", "C:\\windows\\system32\\explorer.exe\0/desktop\0");
    for (size_t i = 0; i < sizeof of_wine / sizeof *of_wine; i++) {
        process.folder = (char *)(uintptr_t)of_wine[i];
        assert_string_equal(pm_identity_denied(&process, NULL), "it is a part of Wine");
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        process.folder = (char *)(uintptr_t)others[i];
        assert_null(pm_identity_denied(&process, NULL));
    }
}

/* Whether the process that has a file of that name mapped is taken for one with Chromium's Embedded
 * Framework, and was not before. */
static bool is_noticed(const char *folder, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(file >= 0 && ftruncate(file, 4096) == 0);
    struct pm_process process;
    pm_process_read(&process);
    assert_false(process.has_cef);
    pm_process_finish(&process);
    void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    pm_process_read(&process);
    const bool noticed = process.has_cef;
    if (noticed)
        assert_string_equal(pm_identity_denied(&process, NULL), "it is a browser");
    pm_process_finish(&process);
    munmap(mapped, 4096);
    close(file);
    unlink(path);
    return noticed;
}

/* The Chromium Embedded Framework beside us, of Linux and of a Windows program under Wine. */
static void what_is_mapped(void **state)
{
    (void)state;
    char folder[] = "/tmp/pm-identity-XXXXXX", windows[64], inside[96];
    assert_non_null(mkdtemp(folder));
    snprintf(windows, sizeof windows, "%s/drive_c", folder);
    snprintf(inside, sizeof inside, "%s/A Launcher", windows);
    assert_true(mkdir(windows, 0700) == 0 && mkdir(inside, 0700) == 0);
    assert_true(is_noticed(folder, "libcef.so"));
    assert_true(is_noticed(inside, "libcef.dll"));
    assert_false(is_noticed(inside, "libcefx.dll"));
    assert_false(is_noticed(inside, "my libcef.dll"));
    rmdir(inside);
    rmdir(windows);
    rmdir(folder);
}

/* A program that was upgraded while it runs starts its further processes from a file that is gone.
 */
static void a_program_whose_file_is_gone(void **state)
{
    (void)state;
    char folder[] = "/tmp/pm-identity-XXXXXX", path[64], command[256], name[64] = "";
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/firefox", folder);
    snprintf(command, sizeof command, "cp /proc/%d/exe %s && %s %s; rmdir %s", (int)getpid(), path,
             path, path, folder);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_non_null(fgets(name, sizeof name, output));
    assert_int_equal(pclose(output), 0);
    assert_string_equal(name, "firefox");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* What a program of that executable's name says of itself that is started as `argument` and has
 * the file mapped. */
static void expect_process(const char *loader, const char *argument, const char *file,
                           const char *expected)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl(loader, argument, "--mapped", file, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    char said[256] = "";
    FILE *output = fdopen(ends[0], "r");
    assert_non_null(output);
    assert_non_null(fgets(said, sizeof said, output));
    fclose(output);
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(said, expected);
}

/* /proc as it was seen under Wine 8.0: the executable is Wine's, the first argument what the
 * program was started as, and its file is mapped. */
static void programs_of_windows(void **state)
{
    (void)state;
    char folder[] = "/tmp/pm-identity-XXXXXX", command[256], loader[64], file[64], expected[128];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command, "mkdir '%s/A Maze' && cp /proc/%d/exe %s/wine64-preloader",
             folder, (int)getpid(), folder);
    assert_int_equal(system(command), 0);
    snprintf(loader, sizeof loader, "%s/wine64-preloader", folder);
    snprintf(file, sizeof file, "%s/A Maze/Game.exe", folder);
    write_file(file, "MZ");
    snprintf(expected, sizeof expected, "%s/A Maze: Game.exe", folder);
    static const char *const started[] = {"Game.exe", "game.EXE",   "Game",
                                          "./game",   "maze\\game", "Z:\\games\\A Maze\\Game.exe"};
    for (size_t i = 0; i < sizeof started / sizeof *started; i++)
        expect_process(loader, started[i], file, expected);
    /* Another file. */
    expect_process(loader, "Z:\\maze\\other.exe", file, "Z:\\maze: other.exe");
    expect_process(loader, "Gam", file, "-: Gam");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

/* The file that PIECEMEAL_CONFIG names, else the game's own, else the defaults; the environment
 * wins. */
static void where_the_config_comes_from(void **state)
{
    (void)state;
    char folder[] = "/tmp/pm-identity-XXXXXX";
    assert_non_null(mkdtemp(folder));
    char command[512], own[512], named[512];
    snprintf(command, sizeof command, "mkdir -p %s/piecemeal", folder);
    assert_int_equal(system(command), 0);
    snprintf(own, sizeof own, "%s/piecemeal/A%%20Game.json", folder);
    snprintf(named, sizeof named, "%s/named.json", folder);
    write_file(own, "{\"sampler\": {\"batch\": 3, \"window_frames\": 77}}");
    write_file(named, "{\"sampler\": {\"batch\": 5}}");
    setenv("XDG_CONFIG_HOME", folder, 1);
    unsetenv("PIECEMEAL_CONFIG");

    struct pm_config config;
    struct pm_error error = {0};
    pm_config_init(&config);
    assert_true(pm_config_load_game(&config, "A Game", &error));
    assert_int_equal(config.sampler.batch, 3);
    assert_int_equal(config.sampler.window_frames, 77);
    pm_config_finish(&config);

    pm_config_init(&config);
    assert_true(pm_config_load_game(&config, "Another", &error));
    assert_int_equal(config.sampler.batch, 8);
    pm_config_finish(&config);

    setenv("PIECEMEAL_CONFIG", named, 1);
    pm_config_init(&config);
    assert_true(pm_config_load_game(&config, "A Game", &error));
    assert_int_equal(config.sampler.batch, 5);
    assert_int_equal(config.sampler.window_frames, 1024);
    pm_config_finish(&config);

    setenv("PIECEMEAL_SAMPLER_BATCH", "6", 1);
    pm_config_init(&config);
    assert_true(pm_config_load_game(&config, "A Game", &error));
    assert_int_equal(config.sampler.batch, 6);
    pm_config_finish(&config);

    write_file(named, "{\"sampler\":\n {\"batch\": true}}");
    pm_config_init(&config);
    assert_false(pm_config_load_game(&config, "A Game", &error));
    assert_non_null(strstr(error.message, "named.json:2:"));
    pm_config_finish(&config);

    unlink(named);
    pm_config_init(&config);
    assert_false(pm_config_load_game(&config, "A Game", &error)); /* what is named must be there */
    pm_config_finish(&config);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static int say_process(const char *file)
{
    const int opened = open(file, O_RDONLY | O_CLOEXEC);
    if (opened < 0 || mmap(NULL, 1, PROT_READ, MAP_PRIVATE, opened, 0) == MAP_FAILED)
        return 1;
    struct pm_process process;
    pm_process_read(&process);
    printf("%s: %s", process.folder != NULL ? process.folder : "-", process.executable);
    pm_process_finish(&process);
    close(opened);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2) /* programs_of_windows */
        return say_process(argv[2]);
    if (argc > 1) { /* a_program_whose_file_is_gone */
        unlink(argv[1]);
        struct pm_process process;
        pm_process_read(&process);
        fputs(process.executable, stdout);
        pm_process_finish(&process);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(names_by_launchers),
        cmocka_unit_test(names_of_games_on_engines),
        cmocka_unit_test(who_is_left_alone),
        cmocka_unit_test(what_is_mapped),
        cmocka_unit_test(a_program_whose_file_is_gone),
        cmocka_unit_test(programs_of_windows),
        cmocka_unit_test(where_the_config_comes_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
