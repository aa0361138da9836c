/*
 * The paper's Table 3, made again (Cooperative PGO, section 6.3): how the block frequencies of the
 * scene's hottest shader with enough blocks approach ground truth as piecemeal profiles come in, at
 * p = 0.05 and b = 2.
 *
 *   convergence --piecemeal PIECEMEAL [--frames N] [--seeds K] [--blocks N] -- SCENE [ARGUMENT…]
 *
 * Runs the scene once with every call and point sampled (ground truth, by ratio of sums), then K
 * times with different seeds of the sampler, and reads the counters from the spool. Since the scene
 * goes on moving, they are taken in an order drawn by lot, a checkpoint (a frame) at a time: what
 * many players send comes from everywhere in a game, and not from its first frames. Prints a table
 * in Markdown for the first seed, and for every seed the largest error at 500 sampled calls. Ends
 * with 0 when, at 500 sampled calls, every block was within 0.05, or 5 % relative where the truth
 * is above 1, in at least nine of ten seeds.
 */
#include "aggregator_client/disk/spool.h"
#include "base/file.h"
#include "base/random.h"
#include "tools/common/launch.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHADERS_MOST = 256, POINTS_MOST = 1024, MARKS = 6 };

static const uint32_t marks[MARKS] = {45, 100, 500, 1000, 2000, 4000};

struct shader {
    struct pm_shader_key key;
    uint32_t space;
    double x[POINTS_MOST], y[POINTS_MOST];
    double sampled; /* calls, over all batches */
    double at_mark[MARKS][POINTS_MOST];
    bool reached[MARKS];
    uint32_t least[MARKS], most[MARKS]; /* samples a block */
    uint32_t calls[POINTS_MOST];
};

/* What one checkpoint says of one point. */
struct piece {
    uint64_t place; /* of its checkpoint, in the order drawn by lot */
    uint32_t point, calls;
    double x, y;
};

struct run {
    struct shader *shaders;
    size_t count;
    uint32_t batch;
    struct pm_random random;
    const struct pm_shader_key *only; /* what pieces are kept of; NULL: sums of all shaders */
    struct piece *pieces;
    size_t piece_count, piece_room;
};

struct options {
    const char *piecemeal;
    uint64_t frames, seeds, blocks;
    char **scene;
    int scene_count;
};

static struct shader *find(struct run *run, const struct pm_shader_profile *profile)
{
    for (size_t i = 0; i < run->count; i++)
        if (pm_shader_key_equal(&run->shaders[i].key, &profile->key))
            return &run->shaders[i];
    if (run->count == SHADERS_MOST || profile->space > POINTS_MOST)
        return NULL;
    struct shader *shader = &run->shaders[run->count++];
    *shader = (struct shader){.key = profile->key, .space = profile->space};
    return shader;
}

static void note_marks(struct shader *shader)
{
    for (size_t mark = 0; mark < MARKS; mark++) {
        if (shader->reached[mark] || shader->sampled < marks[mark])
            continue;
        shader->reached[mark] = true;
        shader->least[mark] = UINT32_MAX;
        for (uint32_t i = 0; i < shader->space; i++) {
            shader->at_mark[mark][i] = shader->x[i] > 0 ? shader->y[i] / shader->x[i] : NAN;
            shader->least[mark] =
                shader->calls[i] < shader->least[mark] ? shader->calls[i] : shader->least[mark];
            shader->most[mark] =
                shader->calls[i] > shader->most[mark] ? shader->calls[i] : shader->most[mark];
        }
    }
}

static void add(struct shader *shader, uint32_t batch, const struct piece *piece)
{
    if (batch > shader->space)
        batch = shader->space;
    shader->x[piece->point] += piece->x;
    shader->y[piece->point] += piece->y;
    shader->calls[piece->point] += piece->calls;
    shader->sampled += piece->calls * ceil((double)shader->space / batch) / shader->space;
}

static bool keep(struct run *run, const struct piece *piece, struct pm_error *error)
{
    if (run->piece_count == run->piece_room) {
        size_t room = run->piece_room ? 2 * run->piece_room : 1024;
        struct piece *pieces = realloc(run->pieces, room * sizeof(*pieces));
        if (!pieces)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        run->pieces = pieces;
        run->piece_room = room;
    }
    run->pieces[run->piece_count++] = *piece;
    return true;
}

static bool take(void *user, const struct pm_profile *checkpoint, struct pm_error *error)
{
    struct run *run = user;
    const uint64_t place = pm_random_next(&run->random);
    for (size_t i = 0; i < checkpoint->shader_count; i++) {
        const struct pm_shader_profile *profile = &checkpoint->shaders[i];
        if (profile->kind != PM_KIND_BLOCK ||
            (run->only && !pm_shader_key_equal(&profile->key, run->only)))
            continue;
        struct shader *shader = find(run, profile);
        for (size_t j = 0; shader && j < profile->point_count; j++) {
            const struct pm_point_counts *point = &profile->points[j];
            const struct piece piece = {place, point->point, point->calls,
                                        (double)point->entry_lanes,
                                        (double)point->counts[PM_BLOCK_LANES]};
            if (!run->only)
                add(shader, run->batch, &piece);
            else if (!keep(run, &piece, error))
                return false;
        }
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

/* The kept pieces, checkpoint by checkpoint; the marks are noted between two. */
static void replay(struct run *run)
{
    if (run->count == 0)
        return;
    qsort(run->pieces, run->piece_count, sizeof(*run->pieces), by_place);
    for (size_t i = 0; i < run->piece_count; i++) {
        add(&run->shaders[0], run->batch, &run->pieces[i]);
        if (i + 1 == run->piece_count || run->pieces[i + 1].place != run->pieces[i].place)
            note_marks(&run->shaders[0]);
    }
}

static bool read_spool(const char *folder, struct run *run, struct pm_error *error)
{
    struct pm_spool_session *sessions = NULL;
    size_t count = 0;
    bool ok = pm_spool_list(folder, &sessions, &count, error);
    for (size_t i = 0; ok && i < count; i++) {
        uint64_t damaged_at;
        ok = pm_spool_read(sessions[i].path, take, run, &damaged_at, error);
        unlink(sessions[i].path);
    }
    pm_spool_list_free(sessions, count);
    return ok;
}

static bool run_scene(const struct options *options, const char *folder, double p, uint32_t batch,
                      uint64_t seed, struct run *run, struct pm_error *error)
{
    enum { WORDS_MOST = 64, SETS = 7 };
    char sets[SETS][64], frames[24];
    char *words[WORDS_MOST];
    int used = 0, status;
    snprintf(sets[0], sizeof(sets[0]), "sampler.window_probability=1");
    snprintf(sets[1], sizeof(sets[1]), "sampler.api_probability=%.17g", p);
    if (batch == UINT32_MAX)
        snprintf(sets[2], sizeof(sets[2]), "sampler.batch=all");
    else
        snprintf(sets[2], sizeof(sets[2]), "sampler.batch=%u", batch);
    snprintf(sets[3], sizeof(sets[3]), "sampler.seed=%llu", (unsigned long long)seed);
    snprintf(sets[4], sizeof(sets[4]), "debug.synchronous=true");
    snprintf(sets[5], sizeof(sets[5]), "debug.checkpoint_heartbeats=1");
    snprintf(sets[6], sizeof(sets[6]), "sampler.kinds=block"); /* a call is sampled for one kind */
    snprintf(frames, sizeof(frames), "%llu", (unsigned long long)options->frames);
    words[used++] = (char *)options->piecemeal;
    words[used++] = "run";
    for (size_t i = 0; i < SETS; i++) {
        words[used++] = "--set";
        words[used++] = sets[i];
    }
    words[used++] = "--";
    for (int i = 0; i < options->scene_count && used < WORDS_MOST - 3; i++)
        words[used++] = options->scene[i];
    words[used++] = "--frames";
    words[used++] = frames;
    words[used] = NULL;
    run->batch = batch;
    run->count = run->piece_count = 0;
    pm_random_init(&run->random, seed);
    if (!pm_launch_wait(words, &status, error))
        return false;
    if (status != 0)
        return pm_fail(error, PM_ERROR_STATE, "%s ended with %d", options->scene[0], status);
    return read_spool(folder, run, error);
}

/* The hottest by lanes times blocks run, of those with enough blocks. */
static const struct shader *hottest(const struct run *run, uint64_t blocks)
{
    const struct shader *best = NULL;
    double most = -1;
    for (size_t i = 0; i < run->count; i++) {
        double heat = 0;
        for (uint32_t j = 0; j < run->shaders[i].space; j++)
            heat += run->shaders[i].y[j];
        if (run->shaders[i].space >= blocks && heat > most) {
            best = &run->shaders[i];
            most = heat;
        }
    }
    return best;
}

static double error_at(const struct shader *shader, size_t mark, const double *truth)
{
    double worst = 0;
    for (uint32_t i = 0; i < shader->space; i++) {
        double off = fabs(shader->at_mark[mark][i] - truth[i]);
        if (truth[i] > 1)
            off /= truth[i];
        if (!(off <= worst)) /* a block without a sample is NaN, and the worst there is */
            worst = isnan(off) ? INFINITY : off;
    }
    return worst;
}

static void print_table(const struct shader *shader, const double *truth)
{
    printf("| piecemeal profiles |");
    for (size_t mark = 0; mark < MARKS; mark++)
        if (shader->reached[mark])
            printf(" %u |", marks[mark]);
    printf(" truth |\n| --- |");
    for (size_t mark = 0; mark < MARKS; mark++)
        if (shader->reached[mark])
            printf(" --- |");
    printf(" --- |\n| samples a block |");
    for (size_t mark = 0; mark < MARKS; mark++)
        if (shader->reached[mark])
            printf(" %u to %u |", shader->least[mark], shader->most[mark]);
    printf(" |\n");
    for (uint32_t i = 0; i < shader->space; i++) {
        printf("| block %u |", i);
        for (size_t mark = 0; mark < MARKS; mark++)
            if (shader->reached[mark])
                printf(" %.3f |", shader->at_mark[mark][i]);
        printf(" %.3f |\n", truth[i]);
    }
}

static int converge(const struct options *options, const char *folder, struct run *run,
                    struct pm_error *error)
{
    static double truth[POINTS_MOST];
    if (!run_scene(options, folder, 1, UINT32_MAX, 1, run, error))
        return -1;
    const struct shader *hot = hottest(run, options->blocks);
    if (!hot) {
        pm_fail(error, PM_ERROR_STATE, "no shader of the scene has %llu blocks",
                (unsigned long long)options->blocks);
        return -1;
    }
    struct pm_shader_key key = hot->key;
    char text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&key, text);
    for (uint32_t i = 0; i < hot->space; i++)
        truth[i] = hot->x[i] > 0 ? hot->y[i] / hot->x[i] : 0;
    printf("shader %.12s: %u blocks, %.1f calls a frame, %llu frames\n\n", text, hot->space,
           hot->calls[0] / (double)options->frames, (unsigned long long)options->frames);
    uint64_t good = 0;
    run->only = &key;
    for (uint64_t seed = 1; seed <= options->seeds; seed++) {
        if (!run_scene(options, folder, 0.05, 2, seed, run, error))
            return -1;
        replay(run);
        const struct shader *shader = run->count ? &run->shaders[0] : NULL;
        if (!shader || !shader->reached[2]) {
            pm_fail(error, PM_ERROR_STATE,
                    "seed %llu: %.0f sampled calls, 500 are needed: more --frames",
                    (unsigned long long)seed, shader ? shader->sampled : 0);
            return -1;
        }
        if (seed == 1)
            print_table(shader, truth);
        double worst = error_at(shader, 2, truth);
        good += worst <= 0.05;
        printf("%sseed %llu: largest error at 500 sampled calls %.4f\n", seed == 1 ? "\n" : "",
               (unsigned long long)seed, worst);
        fflush(stdout);
    }
    printf("\n%llu of %llu seeds within 0.05 (5 %% relative above 1) at 500 sampled calls\n",
           (unsigned long long)good, (unsigned long long)options->seeds);
    return good * 10 >= options->seeds * 9 ? 0 : 1;
}

int main(int argc, char **argv)
{
    enum { PIECEMEAL = 256, FRAMES, SEEDS, BLOCKS };
    static const struct option known[] = {{"piecemeal", 1, 0, PIECEMEAL},
                                          {"frames", 1, 0, FRAMES},
                                          {"seeds", 1, 0, SEEDS},
                                          {"blocks", 1, 0, BLOCKS},
                                          {0}};
    struct options options = {.frames = 400, .seeds = 20, .blocks = 15};
    bool good = true;
    int option;
    while (good && (option = getopt_long(argc, argv, "+", known, NULL)) != -1) {
        if (option == PIECEMEAL)
            options.piecemeal = optarg;
        else
            good = (option == FRAMES   ? pm_tool_number(optarg, 1000000, &options.frames)
                    : option == SEEDS  ? pm_tool_number(optarg, 10000, &options.seeds)
                    : option == BLOCKS ? pm_tool_number(optarg, POINTS_MOST, &options.blocks)
                                       : false);
    }
    if (!good || !options.piecemeal || optind >= argc) {
        fprintf(stderr, "usage: convergence --piecemeal PIECEMEAL [--frames N] [--seeds K] "
                        "[--blocks N] -- SCENE…\n");
        return 2;
    }
    options.scene = argv + optind;
    options.scene_count = argc - optind;
    struct pm_error error = {0};
    char folder[] = "/tmp/piecemeal-convergence-XXXXXX";
    struct run run = {.shaders = calloc(SHADERS_MOST, sizeof(struct shader))};
    int status = -1;
    if (!run.shaders || !mkdtemp(folder) || setenv("PIECEMEAL_SPOOL", folder, 1) != 0)
        perror("convergence");
    else if ((status = converge(&options, folder, &run, &error)) < 0)
        fprintf(stderr, "convergence: %s\n", error.message);
    rmdir(folder);
    free(run.pieces);
    free(run.shaders);
    return status < 0 ? 1 : status;
}
