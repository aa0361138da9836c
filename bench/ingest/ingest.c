/*
 * How many uploads a second does the aggregator take, and what do they cost it?
 *
 *   ingest [--seconds N] [--connections N] [--shaders N] [--points N] [--games N]
 *          [--stored-points N] [--rate N] [--tls] [--reconnect] [--seed N] [--folder F]
 *          [--storage URL] [--engine PID] [--nodes N]
 *
 * Starts a service in a process of its own, on a fresh storage with FULL synchronous commits, with
 * tokens, rate limits and curation on, and loads it over loopback, by default as a game like the
 * paper's Watch would: 2,000 shaders of 125 points, uploads of 150 shaders and 8 points, 512
 * connections that are kept. --stored-points fills the storage first, with as many games as it
 * takes, and uploads then are of any of them. Prints what came of it, after checking that the
 * storage counts exactly the uploads that were acknowledged. The folder (default: the working
 * folder) takes the storage, which is removed at the end. --storage names a PostgreSQL with an
 * empty database instead, and --engine its first process, so that what it used is printed too;
 * --nodes starts so many services on it, over which the connections are spread
 * (tests/aggregator/with_postgres.sh --durable starts one).
 */
#include "base/clock.h"
#include "bench/ingest/ingest_engine.h"
#include "bench/ingest/ingest_load.h"
#include "bench/ingest/ingest_server.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* So many players that none of them sends more than counts of one in a day (PM_TOKEN_CLUSTERS). */
enum { TOKENS_LEAST = 100000, TOKENS_A_SECOND = 2000, TOKEN_BYTES = 33, BODIES = 4096 };
/* Uploads a minute of one address, since all come from one here. */
#define ADDRESS_RATE (1u << 30)
#define FOLD_SECONDS 15
#define NODES_MOST 16

#define TOKEN_FILE "tokens"

struct options {
    uint64_t seconds, connections, shaders, points, games, stored, rate, seed;
    uint64_t engine; /* a process id, or 0 */
    uint64_t nodes;
    bool tls, reconnect;
    const char *folder, *storage;
};

struct tokens {
    size_t count;
    char (*texts)[TOKEN_BYTES];
    const char **pointers; /* to these */
};

static void tokens_finish(struct tokens *tokens)
{
    free(tokens->texts);
    free(tokens->pointers);
}

/* Also writes them to the file. The caller finishes them, whatever comes of it. */
static bool make_tokens(struct tokens *tokens, const char *path, const struct options *options,
                        struct pm_error *error)
{
    tokens->count = (size_t)options->seconds * TOKENS_A_SECOND;
    if (tokens->count < TOKENS_LEAST)
        tokens->count = TOKENS_LEAST;
    tokens->texts = calloc(tokens->count, sizeof(*tokens->texts));
    tokens->pointers = calloc(tokens->count, sizeof(*tokens->pointers));
    if (!tokens->texts || !tokens->pointers)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    FILE *file = fopen(path, "w");
    struct pm_random random;
    if (!file)
        return pm_fail(error, PM_ERROR_IO, "%s: cannot be written", path);
    pm_random_init(&random, options->seed);
    for (size_t i = 0; i < tokens->count; i++) {
        snprintf(tokens->texts[i], TOKEN_BYTES, "%016llx%016llx",
                 (unsigned long long)pm_random_next(&random),
                 (unsigned long long)pm_random_next(&random));
        tokens->pointers[i] = tokens->texts[i];
        fprintf(file, "%s\n", tokens->texts[i]);
    }
    fclose(file);
    return true;
}

struct uploads {
    uint64_t count;
};

static bool add_game(void *user, const char *game, uint64_t uploads, struct pm_error *error)
{
    struct uploads *all = user;
    (void)game;
    (void)error;
    all->count += uploads;
    return true;
}

static bool add_waiting(void *user, const char *game, unsigned part, uint64_t rows, uint64_t bytes,
                        struct pm_error *error)
{
    (void)game;
    (void)part;
    (void)rows;
    (void)error;
    *(uint64_t *)user += bytes;
    return true;
}

static int64_t tomorrow(void *user)
{
    (void)user;
    return (int64_t)time(NULL) + 86400;
}

/* What was put off: folds what waits, also until the day has ended, game by game, for FOLD_SECONDS
 * at most. */
static bool fold(struct pm_aggregator *aggregator, const struct options *options,
                 double sample_bytes, struct pm_error *error)
{
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    uint64_t before = 0, after = 0;
    if (!storage->operations->list_samples(storage, NULL, add_waiting, &before, error))
        return false;
    const int64_t start = pm_now();
    const clock_t cpu = clock();
    for (uint32_t i = 0; i < options->games && pm_now() - start < FOLD_SECONDS * PM_SECOND; i++) {
        char game[BODIES_GAME_BYTES];
        bodies_game(i, game);
        if (!pm_aggregator_fold(aggregator, game, error))
            return false;
    }
    const double seconds = (double)(clock() - cpu) / CLOCKS_PER_SEC;
    if (!storage->operations->list_samples(storage, NULL, add_waiting, &after, error))
        return false;
    printf(
        "  put off       %.0f MiB waited at the end; folding %.0f of them took %.1f CPU-seconds, "
        "for %.0f uploads' worth of samples\n",
        (double)before / 0x1p20, (double)(before - after) / 0x1p20, seconds,
        (double)(before - after) / sample_bytes);
    return true;
}

/* What the storage counts, over all games; and folds some of what waits. */
static bool look_at(const struct options *options, double sample_bytes, uint64_t *count,
                    struct pm_error *error)
{
    struct uploads all = {0};
    struct pm_aggregator_info info = server_aggregator();
    info.clock = tomorrow; /* what waits under marks is folded when its day has ended */
    struct pm_aggregator *aggregator = pm_aggregator_open(options->storage, &info, error);
    if (!aggregator)
        return false;
    struct pm_storage *storage = pm_aggregator_storage(aggregator);
    const bool done = storage->operations->list_games(storage, add_game, &all, error) &&
                      fold(aggregator, options, sample_bytes, error);
    pm_aggregator_destroy(aggregator);
    *count = all.count;
    return done;
}

/* Of all nodes, and of what they store in. */
struct usage {
    struct server_usage servers;
    struct engine_usage engine;
};

static bool read_usage(const struct options *options, const struct server *servers,
                       struct usage *usage, struct pm_error *error)
{
    *usage = (struct usage){0};
    for (uint64_t i = 0; i < options->nodes; i++) {
        struct server_usage one = {0};
        if (!server_usage(&servers[i], &one, error))
            return false;
        usage->servers.cpu += one.cpu;
        usage->servers.engine_cpu = one.engine_cpu;
        usage->servers.resident += one.resident;
        usage->servers.written += one.written;
    }
    return options->engine == 0 || engine_usage(options->storage, &usage->engine, error);
}

static void print_engine(const struct load_result *load, const struct usage *before,
                         const struct usage *after)
{
    const double engine = after->servers.engine_cpu - before->servers.engine_cpu;
    const double stored = (double)load->stored;
    printf("  engine        %.1f CPU-seconds: %.0f uploads per CPU-second of both; %.1f kB of log "
           "and %.1f kB of tables an upload\n",
           engine, stored / (after->servers.cpu - before->servers.cpu + engine),
           (double)(after->engine.log - before->engine.log) / 1e3 / stored,
           ((double)after->engine.tables - (double)before->engine.tables) / 1e3 / stored);
}

static void print(const struct options *options, const struct bodies *bodies,
                  const struct load_result *load, const struct usage *from, const struct usage *to)
{
    const struct server_usage *before = &from->servers, *after = &to->servers;
    const double cpu = after->cpu - before->cpu;
    uint64_t least = UINT64_MAX, refused = 0;
    for (uint32_t i = 0; i < load->second_count; i++)
        least = load->per_second[i] < least ? load->per_second[i] : least;
    for (unsigned i = 0; i < sizeof(load->statuses) / sizeof(*load->statuses); i++)
        refused += i != 204 ? load->statuses[i] : 0;
    printf("%s, %s, %llu connections, bodies of %.0f bytes, %llu games of %llu shaders of %llu "
           "points, %llu points stored before\n",
           options->tls ? "TLS" : "plain", options->reconnect ? "one upload each" : "kept",
           (unsigned long long)options->connections, bodies->mean_size,
           (unsigned long long)options->games, (unsigned long long)options->shaders,
           (unsigned long long)options->points, (unsigned long long)options->stored);
    printf("  stored        %llu in %.1f s: %.0f a second (the least in one second %llu)\n",
           (unsigned long long)load->stored, load->seconds, (double)load->stored / load->seconds,
           (unsigned long long)least);
    printf("  server        %.1f CPU-seconds: %.0f uploads per CPU-second (the generator: %.1f)\n",
           cpu, (double)load->stored / cpu, load->cpu);
    if (options->engine != 0)
        print_engine(load, from, to);
    printf("  acknowledged  p50 %.1f ms, p99 %.1f ms, most %.1f ms\n", load->p50, load->p99,
           load->most);
    printf("  memory        %.0f MiB before, %.0f MiB after\n", (double)before->resident / 0x1p20,
           (double)after->resident / 0x1p20);
    printf("  written       %.1f kB to the disk an upload\n",
           load->stored > 0
               ? (double)(after->written - before->written) / 1e3 / (double)load->stored
               : 0);
    printf("  not stored    %llu answers, %llu without one\n", (unsigned long long)refused,
           (unsigned long long)load->broken);
    for (unsigned i = 0; i < sizeof(load->statuses) / sizeof(*load->statuses); i++) {
        if (i != 204 && load->statuses[i] > 0)
            printf("                %llu of status %u\n", (unsigned long long)load->statuses[i], i);
    }
    fflush(stdout);
}

static bool measure(const struct options *options, const struct server *servers,
                    const struct load_info *info, uint64_t *stored, struct pm_error *error)
{
    struct usage before, after;
    struct load_result result;
    bool done = read_usage(options, servers, &before, error) && load_run(info, &result, error) &&
                read_usage(options, servers, &after, error);
    if (!done)
        return false;
    print(options, info->bodies, &result, &before, &after);
    /* Cut off while it was stored: it may count or not. */
    if (result.broken > 0)
        printf("  connections without an answer: the sums are not compared\n");
    *stored = result.broken > 0 ? UINT64_MAX : result.stored;
    load_result_finish(&result);
    return true;
}

/* In the folder that the process is in. */
static bool run_with(const struct options *options, const struct tokens *tokens,
                     struct pm_error *error)
{
    const struct bodies_info bodies_info = {.count = BODIES,
                                            .games = (uint32_t)options->games,
                                            .shaders = (uint32_t)options->shaders,
                                            .points = (uint32_t)options->points,
                                            .upload_shaders = 150,
                                            .upload_points = 8,
                                            .seed = options->seed};
    struct bodies bodies;
    struct server servers[NODES_MOST];
    uint16_t ports[NODES_MOST];
    struct stat status;
    uint64_t stored = 0, counted = 0;
    const struct server_info server_info = {
        .bodies = &bodies_info,
        .storage = options->storage,
        .engine = (pid_t)options->engine,
        .stored_points = options->stored,
        .service = {.token_file = TOKEN_FILE,
                    .token_rate = 600,
                    .address_rate = ADDRESS_RATE,
                    .connections = (uint32_t)options->connections + 64},
        .tls = options->tls};
    bool done = true;
    uint64_t started = 0;
    for (; done && started < options->nodes; started += done) {
        servers[started] = (struct server){.control = -1};
        done = server_start(&servers[started], &server_info, error);
        ports[started] = servers[started].port;
    }
    if (options->stored > 0 && stat(SERVER_STORAGE, &status) == 0) {
        printf("%llu points stored in %.2f GB\n", (unsigned long long)options->stored,
               (double)status.st_size / 1e9);
        fflush(stdout);
    }
    memset(&bodies, 0, sizeof(bodies));
    done = done && bodies_create(&bodies, &bodies_info, error);
    const struct load_info load = {.ports = ports,
                                   .port_count = (uint32_t)options->nodes,
                                   .connections = (uint32_t)options->connections,
                                   .reconnect = options->reconnect,
                                   .ca_file = options->tls ? SERVER_CERTIFICATE : NULL,
                                   .tokens = tokens->pointers,
                                   .token_count = (uint32_t)tokens->count,
                                   .bodies = &bodies,
                                   .seconds = (double)options->seconds,
                                   .rate = options->rate,
                                   .seed = options->seed + 1};
    done = done && measure(options, servers, &load, &stored, error);
    const double sample_bytes = bodies.mean_sample_bytes;
    bodies_finish(&bodies);
    /* Each holds open what the ones before it are ended by. */
    for (uint64_t i = started; i-- > 0;) {
        if (!server_stop(&servers[i]) && done)
            done = pm_fail(error, PM_ERROR_STATE, "the server failed");
    }
    done = done && look_at(options, sample_bytes, &counted, error);
    const uint64_t filled = options->stored > 0 ? SERVER_FILLED_UPLOADS * options->games : 0;
    if (done && stored != UINT64_MAX && counted - filled != stored)
        done = pm_fail(error, PM_ERROR_STATE, "%llu uploads are counted, %llu were acknowledged",
                       (unsigned long long)(counted - filled), (unsigned long long)stored);
    return done;
}

static bool run(const struct options *options, struct pm_error *error)
{
    struct tokens tokens = {0};
    const bool done =
        make_tokens(&tokens, TOKEN_FILE, options, error) && run_with(options, &tokens, error);
    tokens_finish(&tokens);
    return done;
}

static int parse(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"seconds", 1, 0, 0},     {"connections", 1, 0, 1}, {"shaders", 1, 0, 2},
        {"points", 1, 0, 3},      {"games", 1, 0, 4},       {"stored-points", 1, 0, 5},
        {"rate", 1, 0, 6},        {"seed", 1, 0, 7},        {"tls", 0, 0, 't'},
        {"reconnect", 0, 0, 'r'}, {"folder", 1, 0, 'f'},    {"storage", 1, 0, 's'},
        {"engine", 1, 0, 8},      {"nodes", 1, 0, 9},       {0}};
    uint64_t *const numbers[] = {&options->seconds, &options->connections, &options->shaders,
                                 &options->points,  &options->games,       &options->stored,
                                 &options->rate,    &options->seed,        &options->engine,
                                 &options->nodes};
    for (int got; (got = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (got == 't')
            options->tls = true;
        else if (got == 'r')
            options->reconnect = true;
        else if (got == 'f')
            options->folder = optarg;
        else if (got == 's')
            options->storage = optarg;
        else if (got == '?' || !pm_tool_number(optarg, 1000000000, numbers[got]))
            return PM_EXIT_USAGE;
    }
    const bool fits = options->seconds > 0 && options->connections > 0 && options->games > 0 &&
                      options->shaders >= 150 && options->points >= 8 && options->nodes > 0 &&
                      options->nodes <= (options->engine != 0 ? NODES_MOST : 1);
    if (!fits || optind < argc)
        fprintf(stderr, "ingest: usage: see bench/ingest/ingest.c\n");
    return fits && optind == argc ? -1 : PM_EXIT_USAGE;
}

static void remove_files(void)
{
    static const char *const names[] = {SERVER_STORAGE, SERVER_STORAGE "-wal",
                                        SERVER_STORAGE "-shm", TOKEN_FILE, SERVER_CERTIFICATE};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        unlink(names[i]);
}

int main(int argc, char **argv)
{
    struct options options = {.seconds = 60,
                              .connections = 512,
                              .shaders = 2000,
                              .points = 125,
                              .games = 1,
                              .nodes = 1,
                              .seed = 1,
                              .folder = ".",
                              .storage = SERVER_STORAGE};
    struct pm_error error = {0};
    const int status = parse(argc, argv, &options);
    if (status >= 0)
        return status;
    const uint64_t game_points = options.shaders * options.points;
    if (options.stored > 0)
        options.games = (options.stored + game_points - 1) / game_points;
    char folder[] = "ingest-XXXXXX";
    if (chdir(options.folder) != 0 || !mkdtemp(folder) || chdir(folder) != 0) {
        fprintf(stderr, "ingest: %s: no folder can be made there\n", options.folder);
        return PM_EXIT_FAILED;
    }
    const bool done = run(&options, &error);
    remove_files();
    if (chdir("..") == 0)
        rmdir(folder);
    if (!done)
        fprintf(stderr, "ingest: %s\n", error.message);
    return done ? PM_EXIT_OK : PM_EXIT_FAILED;
}
