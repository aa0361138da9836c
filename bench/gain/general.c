/*
 * How far profiles carry: three scenes, the profiles of each and their unions on every scene
 * ("Cooperative Profile Guided Optimizations", section 6.5, Table 4 and Figure 10), and whether a
 * union is worth less to a scene than the scene's own profile (profile dilution, section 7.1).
 *
 *   general --piecemeal PIECEMEAL [--frames N] [--skip N] [--block N] [--train-frames N]
 *           [--set KEY=VALUE]... -- SCENE [ARGUMENT...]
 *
 * Each scene (--scene 0 to 2 of the program) is profiled once, as a session of `piecemeal run` in
 * which everything is sampled; P1 is what scene 1, --scene 0, left in the spool. Each profile and
 * each union becomes a player's folder, whose local aggregator took in copies of those sessions.
 * Then each scene is drawn by eight runs in turn (lockstep.h): without the layer, and with each of
 * the seven folders; these sample nothing and trust what they make. Each --set goes to the seven.
 *
 * Prints three tables, a row a profile and a column a scene: transforms, and shaders that they are
 * in, as the layer's log has them; how much faster the frames are than without the layer, and than
 * with the scene's own profile alone, with 95 % intervals over blocks of frames. The unions that
 * have fewer transforms than the scene's own profile, or are slower, are named below.
 */
#include "aggregator_client/disk/spool.h"
#include "base/file.h"
#include "bench/common/lockstep.h"
#include "bench/common/session.h"
#include "bench/common/work_folder.h"
#include "tools/common/launch.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A profile is the set of scenes it is of, a bit each; the empty one stands for no layer. */
enum { SCENES = 3, PROFILES = 1 << SCENES, ORIGINAL = 0, SESSION_BYTES = 1 << 30, OWN_SETS = 2 };
_Static_assert(PROFILES <= (int)PM_SIDES, "a side for each profile");

/* As the paper orders them. */
static const unsigned order[PROFILES - 1] = {1, 2, 4, 3, 5, 6, 7};

struct cell {
    unsigned transforms, shaders;
    struct pm_paired speed; /* without the layer / with the profile */
    struct pm_paired own;   /* with the scene's own profile / with the profile */
};

struct general {
    const struct pm_session_options *options;
    struct pm_work_folder trained[SCENES]; /* in whose spool the sessions are */
    struct pm_work_folder player[PROFILES];
    double *times[PROFILES]; /* milliseconds by frame, of the scene that is being drawn */
    double original[SCENES]; /* milliseconds, the mean */
    struct cell cells[SCENES][PROFILES];
};

static unsigned own_profile(int scene)
{
    return 1u << scene;
}

/* ---- the profiles ---- */

static bool copy_session(const char *from, const char *folder, struct pm_error *error)
{
    struct pm_buffer bytes;
    char to[256];
    const char *name = strrchr(from, '/');
    snprintf(to, sizeof(to), "%s%s", folder, name ? name : "");
    pm_buffer_init(&bytes, SESSION_BYTES);
    const bool ok = name && pm_file_read(from, &bytes, error) &&
                    pm_file_write(to, bytes.data, bytes.size, error);
    pm_buffer_finish(&bytes);
    return ok;
}

/* What is in a spool, counted, and copied to the folder `to` where that is not NULL. */
static bool copy_spool(const char *spool, const char *to, size_t *count, struct pm_error *error)
{
    struct pm_spool_session *sessions = NULL;
    if (!pm_spool_list(spool, &sessions, count, error))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && to && i < *count; i++)
        ok = copy_session(sessions[i].path, to, error);
    pm_spool_list_free(sessions, *count);
    return ok;
}

static bool train(struct general *general, int scene, struct pm_error *error)
{
    char arguments[24];
    snprintf(arguments, sizeof(arguments), "--scene %d", scene);
    if (!pm_work_folder_create(&general->trained[scene], error))
        return false;
    pm_work_folder_enter(&general->trained[scene]);
    return pm_session_train(general->options, false, arguments, error);
}

/* Puts the sessions of the profile's scenes in the player's spool and has them taken in. */
static bool make_player(struct general *general, unsigned profile, struct pm_error *error)
{
    struct pm_work_folder *player = &general->player[profile];
    const char *const words[] = {general->options->piecemeal, "run", "--local", "--", "true", NULL};
    char spool[128], from[128];
    size_t count;
    int status;
    if (!pm_work_folder_create(player, error))
        return false;
    snprintf(spool, sizeof(spool), "%s/piecemeal/local/spool", player->path);
    if (!pm_make_folder(spool, error))
        return false;
    for (int scene = 0; scene < SCENES; scene++) {
        if (!(profile & own_profile(scene)))
            continue;
        snprintf(from, sizeof(from), "%s/piecemeal/spool", general->trained[scene].path);
        if (!copy_spool(from, spool, &count, error))
            return false;
        if (count == 0)
            return pm_fail(error, PM_ERROR_STATE, "nothing was sampled in scene %d", scene + 1);
    }
    pm_work_folder_enter(player);
    if (!pm_launch_wait((char *const *)words, &status, error) ||
        !copy_spool(spool, NULL, &count, error))
        return false;
    return (status == 0 && count == 0) ||
           pm_fail(error, PM_ERROR_STATE, "the sessions were not taken in");
}

/* ---- a scene ---- */

static void log_path(const struct general *general, unsigned profile, int scene, char path[96])
{
    snprintf(path, 96, "%s/log.%d", general->player[profile].path, scene);
}

static bool draw(struct general *general, int scene, struct pm_error *error)
{
    struct pm_side sides[PROFILES] = {0};
    char number[12], logs[PROFILES][128];
    snprintf(number, sizeof(number), "%d", scene);
    for (unsigned profile = 0; profile < PROFILES; profile++) {
        struct pm_session_list sets = general->options->sets;
        struct pm_words words = {0};
        char path[96];
        log_path(general, profile, scene, path);
        snprintf(logs[profile], sizeof(logs[profile]), "log.file=%s", path);
        sets.items[sets.count++] = "log.level=info";
        sets.items[sets.count++] = logs[profile];
        if (profile == ORIGINAL)
            pm_session_original(general->options, &words);
        else
            pm_session_optimized(general->options, &sets, &words);
        pm_words_add(&words, "--scene");
        pm_words_add(&words, number);
        memcpy(sides[profile].words, words.items, sizeof(words.items));
        sides[profile].environment = general->player[profile].environment;
    }
    return pm_lockstep_draw(sides, PROFILES, general->options->frames, general->times, error);
}

/* What the layer's log says was made; warnings in it are passed on. */
static bool count_transforms(const char *path, struct cell *cell, struct pm_error *error)
{
    static const char made[] = "is specialized: ";
    FILE *file = fopen(path, "r");
    char line[1024];
    if (!file)
        return pm_fail(error, PM_ERROR_STATE, "%s: the layer was not there", path);
    while (fgets(line, sizeof(line), file)) {
        const char *at = strstr(line, made);
        if (at) {
            cell->transforms += (unsigned)strtoul(at + sizeof(made) - 1, NULL, 10);
            cell->shaders++;
        }
        if (strstr(line, ": warning: ") || strstr(line, ": error: "))
            fputs(line, stderr);
    }
    fclose(file);
    return true;
}

static bool measure_scene(struct general *general, int scene, struct pm_error *error)
{
    const struct pm_session_options *options = general->options;
    const uint64_t skip = options->skip, count = options->frames - skip;
    if (!draw(general, scene, error))
        return false;
    for (uint64_t i = 0; i < count; i++)
        general->original[scene] += general->times[ORIGINAL][skip + i] / (double)count;
    const double *original = general->times[ORIGINAL] + skip;
    const double *own = general->times[own_profile(scene)] + skip;
    for (unsigned profile = 1; profile < PROFILES; profile++) {
        struct cell *cell = &general->cells[scene][profile];
        const double *times = general->times[profile] + skip;
        char path[96];
        log_path(general, profile, scene, path);
        if (!count_transforms(path, cell, error))
            return false;
        cell->speed =
            pm_paired_ratio(original, times, NULL, count, options->block, PM_LOCKSTEP_TRIM);
        cell->own = pm_paired_ratio(own, times, NULL, count, options->block, PM_LOCKSTEP_TRIM);
    }
    return true;
}

/* ---- the tables ---- */

static const char *name_of(unsigned profile, char name[16])
{
    size_t length = 0;
    for (int scene = 0; scene < SCENES; scene++)
        if (profile & own_profile(scene))
            length += (size_t)snprintf(name + length, 16 - length, "%sP%d", length > 0 ? "+" : "",
                                       scene + 1);
    return name;
}

static double percent(double ratio)
{
    return (ratio - 1) * 100;
}

static void print_interval(const struct pm_paired *paired)
{
    printf(" %+.1f %% (%+.1f to %+.1f) |", percent(paired->ratio), percent(paired->low),
           percent(paired->high));
}

static void print_head(const char *what, const char *last)
{
    printf("\n%s\n\n| profile |", what);
    for (int scene = 0; scene < SCENES; scene++)
        printf(" scene %d |", scene + 1);
    printf("%s\n| --- |", last);
    for (int scene = 0; scene < SCENES; scene++)
        printf(" --- |");
    printf("%s\n", last[0] ? " --- |" : "");
}

static void print_transforms(const struct general *general)
{
    char name[16];
    print_head("Transforms (shaders they are in):", "");
    for (size_t i = 0; i < PROFILES - 1; i++) {
        printf("| %s |", name_of(order[i], name));
        for (int scene = 0; scene < SCENES; scene++) {
            const struct cell *cell = &general->cells[scene][order[i]];
            printf(" %u (%u) |", cell->transforms, cell->shaders);
        }
        printf("\n");
    }
}

static void print_speedup(const struct general *general)
{
    char name[16];
    print_head("Faster than without the layer (95 % interval):", " mean |");
    for (size_t i = 0; i < PROFILES - 1; i++) {
        double sum = 0;
        printf("| %s |", name_of(order[i], name));
        for (int scene = 0; scene < SCENES; scene++) {
            print_interval(&general->cells[scene][order[i]].speed);
            sum += log(general->cells[scene][order[i]].speed.ratio);
        }
        printf(" %+.1f %% |\n", percent(exp(sum / SCENES)));
    }
    printf("| without, ms |");
    for (int scene = 0; scene < SCENES; scene++)
        printf(" %.3f |", general->original[scene]);
    printf(" |\n");
}

static void print_own(const struct general *general)
{
    char name[16];
    print_head("Faster than with the scene's own profile (95 % interval):", "");
    for (size_t i = 0; i < PROFILES - 1; i++) {
        printf("| %s |", name_of(order[i], name));
        for (int scene = 0; scene < SCENES; scene++)
            if (order[i] == own_profile(scene))
                printf(" its own |");
            else
                print_interval(&general->cells[scene][order[i]].own);
        printf("\n");
    }
}

/* Of the unions that a scene is part of. */
static void print_dilution(const struct general *general)
{
    unsigned unions = 0, fewer = 0, slower = 0;
    char name[16];
    printf("\n");
    for (int scene = 0; scene < SCENES; scene++)
        for (size_t i = 0; i < PROFILES - 1; i++) {
            const struct cell *own = &general->cells[scene][own_profile(scene)];
            const struct cell *cell = &general->cells[scene][order[i]];
            if (!(order[i] & own_profile(scene)) || cell == own)
                continue;
            unions++;
            if (cell->transforms < own->transforms) {
                fewer++;
                printf("- %s on scene %d: %u transforms, P%d alone %u.\n", name_of(order[i], name),
                       scene + 1, cell->transforms, scene + 1, own->transforms);
            }
            if (cell->own.high < 1) {
                slower++;
                printf("- %s on scene %d: slower than P%d alone by %.1f %% (%.1f to %.1f).\n",
                       name_of(order[i], name), scene + 1, scene + 1, -percent(cell->own.ratio),
                       -percent(cell->own.high), -percent(cell->own.low));
            }
        }
    printf("- Dilution: of %u unions with a scene's own profile in them, %u have fewer transforms "
           "on that scene than its own profile, and %u are slower.\n",
           unions, fewer, slower);
}

static bool measure(struct general *general, struct pm_error *error)
{
    for (int scene = 0; scene < SCENES; scene++)
        if (!train(general, scene, error))
            return false;
    if (!pm_work_folder_create(&general->player[ORIGINAL], error))
        return false;
    for (unsigned profile = 1; profile < PROFILES; profile++)
        if (!make_player(general, profile, error))
            return false;
    for (unsigned profile = 0; profile < PROFILES; profile++) {
        general->times[profile] = calloc(general->options->frames, sizeof(double));
        if (!general->times[profile])
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    for (int scene = 0; scene < SCENES; scene++)
        if (!measure_scene(general, scene, error))
            return false;
    print_transforms(general);
    print_speedup(general);
    print_own(general);
    print_dilution(general);
    return true;
}

static void finish(struct general *general)
{
    for (int scene = 0; scene < SCENES; scene++)
        pm_work_folder_remove(&general->trained[scene]);
    for (unsigned profile = 0; profile < PROFILES; profile++) {
        pm_work_folder_remove(&general->player[profile]);
        free(general->times[profile]);
    }
}

int main(int argc, char **argv)
{
    struct pm_session_options options = {
        .frames = 300, .skip = 100, .block = 10, .train_frames = 40};
    struct general general = {.options = &options};
    struct pm_error error = {0};
    if (!pm_session_parse(&options, NULL, argc, argv) ||
        options.sets.count + OWN_SETS > PM_SESSION_LIST_MOST) {
        fprintf(stderr, "usage: general --piecemeal PIECEMEAL [--frames N] [--skip N] [--block N] "
                        "[--train-frames N]\n"
                        "               [--set KEY=VALUE]... -- SCENE...\n");
        return 2;
    }
    const bool ok = measure(&general, &error);
    if (!ok)
        fprintf(stderr, "general: %s\n", error.message);
    finish(&general);
    return ok ? 0 : 1;
}
