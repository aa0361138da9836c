#include "tools/serve/serve_options.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Uploads a minute. A session is one upload; behind one address there may be a house full. */
#define TOKEN_RATE 600
#define ADDRESS_RATE 60000

/* What one may have at a time of 512 connections and 256 MiB, so that a few cannot have it all. */
#define ADDRESS_CONNECTIONS 128
#define ADDRESS_BYTES ((size_t)64 << 20)
#define TOKEN_BYTES ((size_t)32 << 20)
/* A session's upload becomes half a megabyte. */
#define TOKEN_DAY_BYTES ((uint64_t)256 << 20)

/* Far more than anybody has, so that only who invents names meets them. */
#define MAX_GAMES 1000
#define MAX_SCENES 256

#define AT(field) offsetof(struct pm_serve_options, field)
#define SIZE(field) sizeof(((struct pm_serve_options *)NULL)->field)
#define TEXT(name, field, argument, help)                                                          \
    {                                                                                              \
        name, PM_SERVE_TEXT, AT(field), SIZE(field), 0, 0, 1, argument, help                       \
    }
#define FLAG(name, field, help)                                                                    \
    {                                                                                              \
        name, PM_SERVE_FLAG, AT(field), SIZE(field), 0, 0, 1, NULL, help                           \
    }
#define WHOLE(name, field, minimum, maximum, unit, argument, help)                                 \
    {                                                                                              \
        name, PM_SERVE_WHOLE, AT(field), SIZE(field), minimum, maximum, unit, argument, help       \
    }
#define REAL(name, field, minimum, maximum, argument, help)                                        \
    {                                                                                              \
        name, PM_SERVE_REAL, AT(field), SIZE(field), minimum, maximum, 1, argument, help           \
    }

const struct pm_serve_option pm_serve_option_table[] = {
    TEXT("storage", storage, "FILE", "a SQLite file, made when missing, or a PostgreSQL's URL"),
    TEXT("address", service.address, "A", "what to listen on (127.0.0.1)"),
    WHOLE("port", service.port, 0, 65535, 1, "N", "0 takes any free one (8370)"),
    TEXT("token-file", service.token_file, "FILE",
         "one bearer token a line; without it none is asked"),
    TEXT("dashboard-token-file", service.dashboard_token_file, "FILE",
         "the same for the dashboard and its API; without it only this machine sees them, and only "
         "where uploads need no token"),
    TEXT("certificate", service.certificate_file, "FILE", "PEM; with --key: serve HTTPS"),
    TEXT("key", service.key_file, "FILE", "PEM"),
    TEXT("verdicts", service.verdicts_folder, "FOLDER",
         "of files that `piecemeal db sign` made, GAME.verdicts, for clients to pull"),
    FLAG("dev-tls", dev_tls,
         "serve HTTPS with a certificate made at start, for trials; it is put beside the storage, "
         "for clients to trust"),
    WHOLE("curate-seconds", service.curate_seconds, 1, 86400, 1, "N",
          "how often databases are curated (10)"),
    REAL("half-width", aggregator.half_width_absolute, 1e-9, 1e6, "X",
         "publish when every interval is within ±X (0.05) …"),
    REAL("half-width-relative", aggregator.half_width_relative, 1e-9, 1e6, "X",
         "… or ±X of the estimate (0.10)"),
    WHOLE("scenes", aggregator.scenes, 0, 1024, 1, "N",
          "scenes of a game that get a database of their own, the largest first (16)"),
    WHOLE("max-games", aggregator.max_games, 1, 1 << 20, 1, "N",
          "games that may be known; uploads to further ones are answered with 507 (1000)"),
    WHOLE("max-scenes", aggregator.max_scenes, 1, 1 << 16, 1, "N",
          "scenes that may be known of a game; what names further ones counts for the game alone "
          "(256)"),
    WHOLE("half-life-days", aggregator.half_life_days, 0, 36500, 1, "N",
          "after which an upload weighs half in every estimate; 0: never (14)"),
    WHOLE("retention-days", aggregator.retention_days, 0, 36500, 1, "N",
          "after which uploads are forgotten; 0: never (60)"),
    WHOLE("token-clusters", aggregator.token_clusters, 0, 1 << 20, 1, "N",
          "uploads of one token, game and day that count; 0: all (4; all with --dev)"),
    WHOLE("min-tokens", aggregator.min_tokens, 1, 1000, 1, "N",
          "tokens of one day that must speak of a shader before it is published (5; 1 with --dev, "
          "and without --token-file)"),
    WHOLE(
        "publish-seconds", aggregator.publish_seconds, 0, 604800, 1, "N",
        "least between two publications of a game; those of a shader also wait for as many new "
        "tokens, and are quantized; 0: every curation publishes, exactly (3600; 0 with --dev, and "
        "without --token-file)"),
    FLAG("dev", aggregator.publish_all, "publish every covered shader, whatever its intervals"),
    WHOLE("connections", service.connections, 1, 65536, 1, "N", "at a time (512)"),
    WHOLE("queue", service.queue, 1, 1 << 20, 1, "N",
          "uploads waiting for a commit, beyond which 429 is the answer (1024)"),
    WHOLE("token-rate", service.token_rate, 0, 1 << 30, 1, "N",
          "uploads a minute of one token, beyond which 429 is the answer; 0: any (600)"),
    WHOLE("address-rate", service.address_rate, 0, 1 << 30, 1, "N",
          "the same of one address, of IPv6 one /64 (60000)"),
    WHOLE("address-connections", service.address_connections, 0, 65536, 1, "N",
          "of one address, beyond which none is accepted; 0: any (128)"),
    WHOLE("address-mib", service.address_bytes, 0, 1 << 20, 1 << 20, "N",
          "of uploads under way from one address, beyond which 429 is the answer; 0: any (64)"),
    WHOLE("token-mib", service.token_bytes, 0, 1 << 20, 1 << 20, "N", "the same of one token (32)"),
    WHOLE("token-day-mib", service.token_day_bytes, 0, 1 << 20, 1 << 20, "N",
          "that the uploads of one token may become in the storage in a day; 0: any (256)"),
    WHOLE("body-kib", service.limits.compressed_bytes, 1, 1 << 20, 1 << 10, "N",
          "of one upload, beyond which 413 is the answer (4096)"),
    WHOLE("decompressed-kib", service.limits.decompressed_bytes, 1, 1 << 20, 1 << 10, "N",
          "the same once it is decompressed (32768)"),
    WHOLE("upload-shaders", service.limits.shaders, 1, 1 << 20, 1, "N",
          "most shaders of one upload (65536)"),
    WHOLE("upload-points", service.limits.points_per_shader, 1, 1 << 20, 1, "N",
          "most points of one shader of an upload (65536)"),
    WHOLE(
        "waiting-mib", aggregator.samples_bytes, 1, 1 << 24, 1 << 20, "N",
        "of uploads that may wait to be folded into the statistics; at twice as many, uploads wait "
        "(a quarter of the storage, at least 256)"),
    WHOLE("memory-mib", service.memory_bytes, 1, 1 << 20, 1 << 20, "N",
          "for uploads being received or waiting (256)"),
    WHOLE("request-seconds", service.request_seconds, 1, 3600, 1, "N",
          "after which a request that is not there in full is cut off (60)"),
    {"log-level", PM_SERVE_LEVEL, AT(level), SIZE(level), 0, 0, 1, "L",
     "error, warning, info, debug (info)"},
    {NULL, PM_SERVE_TEXT, 0, 0, 0, 0, 0, NULL, NULL},
};

const char *pm_serve_option_key(const struct pm_serve_option *option,
                                char key[static PM_SERVE_KEY_BYTES])
{
    snprintf(key, PM_SERVE_KEY_BYTES, "%s", option->name);
    for (char *c = key; *c; c++)
        *c = *c == '-' ? '_' : *c;
    return key;
}

#define NOT_GIVEN UINT32_MAX /* pm_serve_options_settle decides */

bool pm_serve_options_init(struct pm_serve_options *options, struct pm_error *error)
{
    *options = (struct pm_serve_options){
        .service = {.port = 8370,
                    .limits = pm_profile_limits_default,
                    .token_rate = TOKEN_RATE,
                    .address_rate = ADDRESS_RATE,
                    .address_connections = ADDRESS_CONNECTIONS,
                    .address_bytes = ADDRESS_BYTES,
                    .token_bytes = TOKEN_BYTES,
                    .token_day_bytes = TOKEN_DAY_BYTES},
        .aggregator = {.scenes = 16,
                       .max_games = MAX_GAMES,
                       .max_scenes = MAX_SCENES,
                       .half_life_days = PM_HALF_LIFE_DAYS,
                       .retention_days = PM_RETENTION_DAYS,
                       .token_clusters = NOT_GIVEN,
                       .min_tokens = NOT_GIVEN,
                       .publish_seconds = NOT_GIVEN},
        .level = PM_LOG_INFO,
    };
    options->strings = pm_arena_create(0);
    return options->strings || pm_fail(error, PM_ERROR_MEMORY, "out of memory for the options");
}

void pm_serve_options_finish(struct pm_serve_options *options)
{
    pm_arena_destroy(options->strings);
    options->strings = NULL;
}

static bool set_text(struct pm_serve_options *options, const char **to, const char *text,
                     struct pm_error *error)
{
    if (!*text)
        return pm_fail(error, PM_ERROR_INPUT, "must not be empty");
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F)
            return pm_fail(error, PM_ERROR_INPUT, "must not contain a control character");
    }
    const char *copy = pm_arena_strdup(options->strings, text);
    if (!copy)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    *to = copy;
    return true;
}

static bool set_whole(const struct pm_serve_option *option, void *to, const char *text,
                      struct pm_error *error)
{
    errno = 0;
    const uint64_t value = strtoull(text, NULL, 10);
    if (!*text || strspn(text, "0123456789") != strlen(text) || errno ||
        (double)value < option->minimum || (double)value > option->maximum)
        return pm_fail(error, PM_ERROR_INPUT, "must be a whole number from %.0f to %.0f",
                       option->minimum, option->maximum);
    const uint64_t scaled = value * option->unit;
    if (option->size == sizeof(uint16_t))
        *(uint16_t *)to = (uint16_t)scaled;
    else if (option->size == sizeof(uint32_t))
        *(uint32_t *)to = (uint32_t)scaled;
    else
        *(uint64_t *)to = scaled;
    return true;
}

static bool set_real(const struct pm_serve_option *option, double *to, const char *text,
                     struct pm_error *error)
{
    char *end;
    const double value = strtod(text, &end);
    if (!*text || *end || !isfinite(value) || value < option->minimum || value > option->maximum)
        return pm_fail(error, PM_ERROR_INPUT, "must be a number from %g to %g", option->minimum,
                       option->maximum);
    *to = value;
    return true;
}

bool pm_serve_option_set(struct pm_serve_options *options, const struct pm_serve_option *option,
                         const char *text, struct pm_error *error)
{
    void *to = (char *)options + option->offset;
    switch (option->type) {
    case PM_SERVE_TEXT:
        return set_text(options, to, text, error);
    case PM_SERVE_FLAG:
        *(bool *)to = true;
        return true;
    case PM_SERVE_WHOLE:
        return set_whole(option, to, text, error);
    case PM_SERVE_REAL:
        return set_real(option, to, text, error);
    case PM_SERVE_LEVEL:
        return pm_log_level_parse(text, to) ||
               pm_fail(error, PM_ERROR_INPUT, "must be error, warning, info or debug");
    }
    return pm_fail(error, PM_ERROR_INPUT, "cannot be set");
}

bool pm_serve_options_agree(const struct pm_serve_options *options, struct pm_error *error)
{
    if (!options->storage)
        return pm_fail(error, PM_ERROR_INPUT, "--storage is needed");
    if (!options->service.certificate_file != !options->service.key_file)
        return pm_fail(error, PM_ERROR_INPUT, "--certificate and --key go together");
    if (options->dev_tls && options->service.certificate_file)
        return pm_fail(error, PM_ERROR_INPUT, "--dev-tls makes its own --certificate");
    if (!options->service.token_file && options->aggregator.min_tokens != NOT_GIVEN &&
        options->aggregator.min_tokens > 1)
        return pm_fail(error, PM_ERROR_INPUT,
                       "--min-tokens needs --token-file: without tokens nobody can be told apart");
    return true;
}

bool pm_serve_options_settle(struct pm_serve_options *options, struct pm_error *error)
{
    struct pm_aggregator_info *info = &options->aggregator;
    const bool many = options->service.token_file && !info->publish_all;
    if (info->min_tokens == NOT_GIVEN)
        info->min_tokens = many ? PM_MIN_TOKENS : 1;
    if (info->publish_seconds == NOT_GIVEN)
        info->publish_seconds = many ? PM_PUBLISH_SECONDS : 0;
    if (info->token_clusters == NOT_GIVEN)
        info->token_clusters = many ? PM_TOKEN_CLUSTERS : 0;
    /* An engine that several servers share has the epoch for all of them. */
    if (!options->service.token_file || pm_aggregator_is_remote(options->storage))
        return true;
    info->epoch_file = pm_arena_printf(options->strings, "%s-epoch", options->storage);
    return info->epoch_file || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

void pm_serve_options_help(FILE *out)
{
    for (const struct pm_serve_option *option = pm_serve_option_table; option->name; option++) {
        char left[64];
        snprintf(left, sizeof(left), "--%s %s", option->name,
                 option->argument ? option->argument : "");
        fprintf(out, "  %-26s %s\n", left, option->help);
    }
}
