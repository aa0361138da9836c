#include "aggregator_client/signature.h"
#include "tools/common/options.h"
#include "tools/common/out_file.h"
#include "tools/db/db.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DAYS 30
#define SECONDS_A_DAY 86400

static const char help[] =
    "usage: piecemeal db sign --key FILE -o FILE [OPTION…]\n\n"
    "  --key FILE        a private Ed25519 key in PEM; keep it where no server can read it\n"
    "  -o FILE           the signed verdicts, for `piecemeal serve --verdicts FOLDER`\n"
    "  --game NAME       the game; needed where there are several\n"
    "  --storage FILE    an aggregator's SQLite file (the one of `run --local`)\n"
    "  --database FILE   a PGO database that was pulled\n"
    "  --days N          after which they end (30)\n"
    "  --serial N        greater than that of the one before (the time)\n\n"
    "Signs the verdict of every published timing whose interval is all below 1, or all above. "
    "Clients\nthat have the public key (aggregator.verdict_key_file) go by it without a trial of "
    "their own.\n"
    "A key: openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout\n";

struct options {
    struct pm_estimates_source source;
    const char *key, *out, *days, *serial;
};

/* The default where there is no text. */
static bool number_of(const char *text, uint64_t otherwise, uint64_t *value)
{
    char *end;
    *value = otherwise;
    if (!text)
        return true;
    *value = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == 0 && *value > 0;
}

static size_t choose(const struct pm_database *database, struct pm_signed_verdict *out)
{
    size_t count = 0;
    for (size_t i = 0; i < database->shader_count; i++) {
        const struct pm_shader_estimates *shader = &database->shaders[i];
        if (shader->kind != PM_KIND_TIMING || !shader->published || !shader->points)
            continue;
        const struct pm_ratio *time = &shader->points[0].measures[PM_MEASURE_TIME];
        if (time->clusters > 0 && (time->mean_high < 1 || time->mean_low > 1))
            out[count++] =
                (struct pm_signed_verdict){shader->key, shader->environment, time->mean_high < 1};
    }
    return count;
}

static bool sign(const struct options *options, uint64_t serial, uint64_t days,
                 struct pm_error *error)
{
    struct pm_estimates estimates;
    struct pm_buffer out;
    uint8_t signature[PM_SIGNATURE_BYTES];
    if (!pm_estimates_load(&options->source, &estimates, error))
        return false;
    struct pm_signed_verdict *verdicts =
        calloc(estimates.database.shader_count + 1, sizeof(*verdicts));
    struct pm_signed_verdicts all = {.game = estimates.database.game,
                                     .serial = serial,
                                     .expires = (uint64_t)time(NULL) + days * SECONDS_A_DAY,
                                     .verdicts = verdicts};
    if (verdicts)
        all.count = choose(&estimates.database, verdicts);
    pm_buffer_init(&out, PM_SIGNED_VERDICTS_BYTES);
    const bool done = (verdicts || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
                      pm_out_spares(options->out, estimates.origin, error) &&
                      pm_out_spares(options->out, options->key, error) &&
                      pm_signed_verdicts_write(&all, &out, error) &&
                      pm_signature_make(options->key, out.data, out.size, signature, error) &&
                      pm_signed_verdicts_close(&out, signature, error) &&
                      pm_out_bytes(options->out, out.data, out.size, error);
    if (done)
        printf("%s: %zu verdicts, serial %" PRIu64 ", for %" PRIu64 " days\n", all.game, all.count,
               serial, days);
    pm_buffer_finish(&out);
    free(verdicts);
    pm_estimates_finish(&estimates);
    return done;
}

int pm_db_sign(int argc, char **argv)
{
    struct options options = {0};
    const struct pm_option known[] = {
        {.letter = 'o', .text = &options.out},
        PM_OPTION_TEXT("key", &options.key),
        PM_OPTION_TEXT("game", &options.source.game),
        PM_OPTION_TEXT("storage", &options.source.storage),
        PM_OPTION_TEXT("database", &options.source.database),
        PM_OPTION_TEXT("days", &options.days),
        PM_OPTION_TEXT("serial", &options.serial),
    };
    struct pm_error error = {0};
    uint64_t serial, days;
    const int status =
        pm_tool_options("db sign", help, known, sizeof(known) / sizeof(known[0]), argc, argv, NULL);
    if (status >= 0)
        return status;
    if (!options.key || !options.out)
        return pm_tool_usage("db sign", "%s is needed", options.key ? "-o" : "--key");
    if (!number_of(options.days, DAYS, &days) || days > 3650)
        return pm_tool_usage("db sign", "--days: must be a whole number from 1 to 3650");
    if (!number_of(options.serial, (uint64_t)time(NULL), &serial))
        return pm_tool_usage("db sign", "--serial: must be a whole number above 0");
    return sign(&options, serial, days, &error) ? PM_EXIT_OK : pm_tool_failed("db sign", &error);
}
