#include "profile/verdicts_text.h"

#include "profile/lines.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define HEADER "piecemeal verdicts 1\n"

#define PER_SEEN 1000000000.0

enum { MOST_WORDS = 1 << 24 /* of a module */, MOST_PUSHED_WORD = 63 };

static const char *const verdict_words[] = {[PM_VERDICT_FASTER] = "faster",
                                            [PM_VERDICT_SLOWER] = "slower",
                                            [PM_VERDICT_UNDECIDED] = "undecided"};
static const char *const kind_words[] = {
    [PM_TIMED_CALLS] = "calls", [PM_TIMED_PASSES] = "passes", [PM_TIMED_SESSIONS] = "sessions"};

/* ---- the table ---- */

struct pm_kept_variant *pm_kept_find(const struct pm_kept_table *table,
                                     const struct pm_shader_key *key,
                                     const struct pm_shader_key *original,
                                     const struct pm_environment *environment)
{
    for (size_t i = 0; i < table->count; i++) {
        struct pm_kept_variant *kept = &table->variants[i];
        if (pm_shader_key_equal(&kept->key, key) &&
            pm_shader_key_equal(&kept->original, original) &&
            pm_kept_same_environment(&kept->environment, environment))
            return kept;
    }
    return NULL;
}

/* How much is lost with it: what was found faster took as many sessions as that needs, and is to be
 * used. Of A-Z testing's variants there is no end, and most lose. */
static int rank(const struct pm_kept_variant *kept, int64_t now)
{
    return pm_kept_verdict(kept, now) == PM_VERDICT_FASTER ? 2 : kept->sessions.wanted;
}

/* Of the lowest rank the one that was used longest ago. */
static struct pm_kept_variant *find_least(const struct pm_kept_table *table, int64_t now)
{
    struct pm_kept_variant *least = table->variants;
    int lowest = rank(least, now);
    for (size_t i = 1; i < table->count; i++) {
        struct pm_kept_variant *kept = &table->variants[i];
        const int of = rank(kept, now);
        if (of < lowest || (of == lowest && kept->used_at < least->used_at)) {
            least = kept;
            lowest = of;
        }
    }
    return least;
}

/* Room for one more at `now`; NULL: no memory. */
static struct pm_kept_variant *add(struct pm_kept_table *table, int64_t now)
{
    if (table->count == PM_VERDICTS_MOST)
        return find_least(table, now);
    if (table->count == table->allocated) {
        const size_t more = table->allocated ? table->allocated * 2 : 16;
        struct pm_kept_variant *variants =
            reallocarray(table->variants, more, sizeof *table->variants);
        if (!variants)
            return NULL;
        table->variants = variants;
        table->allocated = more;
    }
    return &table->variants[table->count++];
}

bool pm_kept_put(struct pm_kept_table *table, const struct pm_kept_variant *kept)
{
    struct pm_kept_variant *at =
        pm_kept_find(table, &kept->key, &kept->original, &kept->environment);
    if (!at)
        at = add(table, kept->used_at);
    if (at)
        *at = *kept;
    return at != NULL;
}

/* ---- reading ---- */

static bool parse_words(const char *text, const char *const *words, size_t first, size_t count,
                        uint32_t *found)
{
    for (size_t i = first; i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            *found = (uint32_t)i;
            return true;
        }
    }
    return false;
}

static bool parse_hex(const char *text, uint32_t *value)
{
    uint64_t number = 0;
    if (!pm_line_long_number(text, 16, &number) || number > UINT32_MAX)
        return false;
    *value = (uint32_t)number;
    return true;
}

static bool parse_time(const char *text, int64_t *time)
{
    uint64_t number = 0;
    if (!pm_line_long_number(text, 10, &number) || number > INT64_MAX)
        return false;
    *time = (int64_t)number;
    return true;
}

static bool parse_ratio(const char *text, double *ratio)
{
    uint32_t number = 0;
    if (!pm_line_number(text, &number))
        return false;
    *ratio = number / PM_KEPT_PER_RATIO;
    return true;
}

/* All words from one on. */
static bool parse_ratios(const struct pm_line *line, size_t from, uint32_t *ratios)
{
    bool good = true;
    for (size_t i = from; good && i < line->count; i++)
        good = pm_line_number(line->words[i], &ratios[i - from]) && ratios[i - from] > 0;
    return good;
}

/* variant KEY ORIGINAL SUBGROUP VENDOR DEVICE DRIVER VERSION USED */
static bool parse_variant(const struct pm_line *line, struct pm_kept_variant *kept)
{
    struct pm_environment *environment = &kept->environment;
    *kept = (struct pm_kept_variant){0};
    return pm_shader_key_parse(line->words[1], &kept->key) &&
           pm_shader_key_parse(line->words[2], &kept->original) &&
           parse_hex(line->words[3], &environment->subgroup_size) &&
           parse_hex(line->words[4], &environment->vendor_id) &&
           parse_hex(line->words[5], &environment->device_id) &&
           parse_hex(line->words[6], &environment->driver_id) &&
           parse_hex(line->words[7], &environment->driver_version) &&
           parse_time(line->words[8], &kept->used_at);
}

/* made OPTIONS HIGH LOW COUNT ENTRY_POINT NANOSECONDS BY [RECIPE]: of the variant before. */
static bool parse_made(const struct pm_line *line, struct pm_kept_variant *kept)
{
    uint32_t count = 0;
    if (!kept || kept->made.count > 0 ||
        !pm_line_long_number(line->words[1], 16, &kept->made.options) ||
        !pm_line_long_number(line->words[2], 16, &kept->made.hash.high) ||
        !pm_line_long_number(line->words[3], 16, &kept->made.hash.low) ||
        !pm_line_number(line->words[4], &count) || count == 0 || count > MOST_WORDS ||
        strlen(line->words[5]) >= sizeof kept->made.entry_point ||
        !pm_line_long_number(line->words[6], 10, &kept->made.took) ||
        !parse_hex(line->words[7], &kept->made.by) ||
        (line->count > 8 && strlen(line->words[8]) >= sizeof kept->made.recipe))
        return false;
    if (line->count > 8)
        memcpy(kept->made.recipe, line->words[8], strlen(line->words[8]) + 1);
    memcpy(kept->made.entry_point, line->words[5], strlen(line->words[5]) + 1);
    kept->made.count = count;
    return true;
}

/* Of what a module may run with: nothing else would tell a value that was damaged. */
static uint32_t check_of(const struct pm_kept_variant *kept)
{
    const uint64_t of_module = XXH3_64bits_withSeed(&kept->made.hash, sizeof kept->made.hash,
                                                    XXH3_64bits(&kept->key, sizeof kept->key));
    return (uint32_t)XXH3_64bits_withSeed(
        kept->made.pushed, kept->made.pushed_count * sizeof *kept->made.pushed, of_module);
}

/* pushed CHECK WORD VALUE [WORD VALUE …]: of what is made as the line before says. */
static bool parse_pushed(const struct pm_line *line, struct pm_kept_variant *kept)
{
    uint32_t check = 0;
    if (!kept || kept->made.count == 0 || kept->made.pushed_count > 0 || line->count % 2 == 1 ||
        line->count < 4 || line->count > 2 + 2 * PM_KEPT_PUSHED ||
        !parse_hex(line->words[1], &check))
        return false;
    const size_t count = line->count / 2 - 1;
    for (size_t i = 0; i < count; i++) {
        if (!parse_hex(line->words[2 + 2 * i], &kept->made.pushed[i].word) ||
            kept->made.pushed[i].word > MOST_PUSHED_WORD ||
            !parse_hex(line->words[3 + 2 * i], &kept->made.pushed[i].value))
            return false;
    }
    kept->made.pushed_count = (uint32_t)count;
    return check == check_of(kept);
}

/* verdict WORD KIND RATIO LOW HIGH PAIRS TIME: of the variant before. */
static bool parse_verdict(const struct pm_line *line, struct pm_kept_variant *kept)
{
    uint32_t verdict = 0, kind = 0;
    const bool good =
        kept && kept->verdict == PM_VERDICT_NONE &&
        parse_words(line->words[1], verdict_words, PM_VERDICT_FASTER, PM_VERDICT_UNDECIDED + 1,
                    &verdict) &&
        parse_words(line->words[2], kind_words, 0, PM_TIMED_SESSIONS + 1, &kind) &&
        parse_ratio(line->words[3], &kept->ratio) && parse_ratio(line->words[4], &kept->low) &&
        parse_ratio(line->words[5], &kept->high) && pm_line_number(line->words[6], &kept->pairs) &&
        parse_time(line->words[7], &kept->decided_at);
    if (good) {
        kept->verdict = (enum pm_verdict)verdict;
        kept->kind = (enum pm_timed_kind)kind;
    }
    return good;
}

/* tried SESSION RATIO...: of the variant and the verdict before. */
static bool parse_tried(const struct pm_line *line, struct pm_kept_variant *kept)
{
    if (!kept || kept->verdict == PM_VERDICT_NONE || kept->tried.count > 0 || line->count < 3 ||
        line->count > 2 + PM_SESSIONS_TRIED ||
        !pm_line_long_number(line->words[1], 16, &kept->tried.last))
        return false;
    kept->tried.count = (uint32_t)line->count - 2;
    return parse_ratios(line, 2, kept->tried.ratios);
}

/* seen COUNT SUM SQUARES TIME: of the variant before. Of each logarithm PM_ANYTIME_CLIP is added to
 * the sum, so that none is below 0. */
static bool parse_seen(const struct pm_line *line, struct pm_kept_variant *kept)
{
    uint32_t count = 0;
    uint64_t sum = 0, squares = 0;
    if (!kept || kept->seen.count > 0 || !pm_line_number(line->words[1], &count) || count == 0 ||
        !pm_line_long_number(line->words[2], 10, &sum) ||
        !pm_line_long_number(line->words[3], 10, &squares) ||
        !parse_time(line->words[4], &kept->seen_at) ||
        (double)sum > 2 * PM_ANYTIME_CLIP * count * PER_SEEN ||
        (double)squares > PM_ANYTIME_CLIP * PM_ANYTIME_CLIP * count * PER_SEEN)
        return false;
    kept->seen = (struct pm_anytime){.count = count,
                                     .sum = (double)sum / PER_SEEN - PM_ANYTIME_CLIP * count,
                                     .squares = (double)squares / PER_SEEN};
    return true;
}

/* sessions RATIO...: of the variant before. */
static bool parse_sessions(const struct pm_line *line, struct pm_kept_variant *kept)
{
    if (!kept || kept->sessions.wanted || line->count > 1 + PM_SESSION_PAIRS)
        return false;
    kept->sessions.wanted = true;
    kept->sessions.count = (uint32_t)line->count - 1;
    return parse_ratios(line, 1, kept->sessions.ratios);
}

/* half original|variant TIME UNLIKE SHARE NANOSECONDS... WORK..., or own original ...: of the
 * variant before. */
static bool parse_half(const struct pm_line *line, struct pm_session_half *half, bool own)
{
    if (!half || half->there)
        return false;
    half->there = true;
    half->variant = !own && strcmp(line->words[1], "variant") == 0;
    bool good = (half->variant || strcmp(line->words[1], "original") == 0) &&
                parse_time(line->words[2], &half->at) &&
                pm_line_number(line->words[3], &half->unlike) &&
                pm_line_number(line->words[4], &half->share);
    for (int i = 0; good && i < PM_SESSION_USES; i++)
        good = pm_line_long_number(line->words[5 + i], 10, &half->nanoseconds[i]) &&
               pm_line_long_number(line->words[5 + PM_SESSION_USES + i], 16, &half->work[i]);
    return good;
}

/* charged NANOSECONDS: likewise. */
static bool parse_charged(const struct pm_line *line, struct pm_kept_variant *kept)
{
    return kept && kept->sessions.charged == 0 &&
           parse_time(line->words[1], &kept->sessions.charged);
}

/* *last: the variant that lines of one belong to. */
static bool parse_line(struct pm_kept_table *table, const struct pm_line *line,
                       struct pm_kept_variant **last)
{
    struct pm_kept_variant kept;
    if (pm_line_is(line, "verdict", 8))
        return parse_verdict(line, *last);
    if (pm_line_is(line, "made", 8) || pm_line_is(line, "made", 9))
        return parse_made(line, *last);
    if (line->count > 0 && pm_line_is(line, "pushed", line->count))
        return parse_pushed(line, *last);
    if (line->count > 0 && pm_line_is(line, "tried", line->count))
        return parse_tried(line, *last);
    if (pm_line_is(line, "seen", 5))
        return parse_seen(line, *last);
    if (pm_line_is(line, "half", 5 + 2 * PM_SESSION_USES))
        return parse_half(line, *last ? &(*last)->sessions.half : NULL, false);
    if (pm_line_is(line, "own", 5 + 2 * PM_SESSION_USES))
        return parse_half(line, *last ? &(*last)->sessions.own : NULL, true);
    if (pm_line_is(line, "charged", 2))
        return parse_charged(line, *last);
    if (line->count > 0 && pm_line_is(line, "sessions", line->count))
        return parse_sessions(line, *last);
    if (!pm_line_is(line, "variant", 9) || !parse_variant(line, &kept) ||
        pm_kept_find(table, &kept.key, &kept.original, &kept.environment) ||
        !pm_kept_put(table, &kept))
        return false;
    *last = pm_kept_find(table, &kept.key, &kept.original, &kept.environment);
    return true;
}

bool pm_kept_parse(struct pm_kept_table *table, const char *layer, const char *text, size_t size,
                   struct pm_error *error)
{
    *table = (struct pm_kept_table){0};
    const char *at = text, *end = text + size;
    struct pm_kept_variant *last = NULL;
    struct pm_line line;
    bool good = pm_lines_begin(&at, end, HEADER) && pm_lines_next(&at, end, &line) &&
                pm_line_is(&line, "layer", 2);
    if (good && strcmp(line.words[1], layer) != 0)
        return true;
    size_t number = 2;
    while (good && pm_lines_next(&at, end, &line)) {
        number++;
        good = table->count < PM_VERDICTS_MOST || !pm_line_is(&line, "variant", 9);
        good = good && parse_line(table, &line, &last);
    }
    if (good && at == end)
        return true;
    free(table->variants);
    *table = (struct pm_kept_table){0};
    return pm_fail(error, PM_ERROR_INPUT, "line %zu of the verdicts is damaged", number);
}

/* ---- writing ---- */

static uint64_t whole(double sum)
{
    return sum > 0 ? (uint64_t)floor(sum * PER_SEEN) : 0;
}

static bool format_pushed(const struct pm_kept_variant *kept, struct pm_buffer *out)
{
    bool good = kept->made.pushed_count == 0 || pm_buffer_printf(out, "pushed %x", check_of(kept));
    for (uint32_t i = 0; good && i < kept->made.pushed_count; i++)
        good =
            pm_buffer_printf(out, " %x %x", kept->made.pushed[i].word, kept->made.pushed[i].value);
    return good && (kept->made.pushed_count == 0 || pm_buffer_printf(out, "\n"));
}

static bool format_one(const struct pm_kept_variant *kept, struct pm_buffer *out)
{
    char key[PM_SHADER_KEY_TEXT], original[PM_SHADER_KEY_TEXT];
    const struct pm_environment *environment = &kept->environment;
    pm_shader_key_format(&kept->key, key);
    pm_shader_key_format(&kept->original, original);
    return pm_buffer_printf(out, "variant %s %s %x %x %x %x %x %" PRId64 "\n", key, original,
                            environment->subgroup_size, environment->vendor_id,
                            environment->device_id, environment->driver_id,
                            environment->driver_version, kept->used_at) &&
           (kept->made.count == 0 ||
            pm_buffer_printf(out,
                             "made %" PRIx64 " %" PRIx64 " %" PRIx64 " %u %s %" PRIu64 " %x%s%s\n",
                             kept->made.options, kept->made.hash.high, kept->made.hash.low,
                             kept->made.count, kept->made.entry_point, kept->made.took,
                             kept->made.by, *kept->made.recipe ? " " : "", kept->made.recipe)) &&
           format_pushed(kept, out) &&
           (kept->verdict == PM_VERDICT_NONE ||
            pm_buffer_printf(out, "verdict %s %s %u %u %u %u %" PRId64 "\n",
                             verdict_words[kept->verdict], kind_words[kept->kind],
                             pm_kept_millionths(kept->ratio), pm_kept_millionths(kept->low),
                             pm_kept_millionths(kept->high), kept->pairs, kept->decided_at));
}

static bool format_ratios(const uint32_t *ratios, uint32_t count, struct pm_buffer *out)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++)
        ok = pm_buffer_printf(out, " %u", ratios[i]);
    return ok && pm_buffer_append_string(out, "\n");
}

static bool format_tried(const struct pm_kept_variant *kept, struct pm_buffer *out)
{
    return kept->verdict == PM_VERDICT_NONE || kept->tried.count == 0 ||
           (pm_buffer_printf(out, "tried %" PRIx64, kept->tried.last) &&
            format_ratios(kept->tried.ratios, kept->tried.count, out));
}

static bool format_seen(const struct pm_kept_variant *kept, struct pm_buffer *out)
{
    const struct pm_anytime *seen = &kept->seen;
    if (!(seen->count >= 1 && seen->count <= UINT32_MAX))
        return true;
    const double sum = seen->sum + PM_ANYTIME_CLIP * seen->count;
    return pm_buffer_printf(out, "seen %u %" PRIu64 " %" PRIu64 " %" PRId64 "\n",
                            (unsigned)seen->count, whole(sum), whole(seen->squares), kept->seen_at);
}

static bool format_half(const char *name, const struct pm_session_half *half, struct pm_buffer *out)
{
    if (!half->there)
        return true;
    bool ok = pm_buffer_printf(out, "%s %s %" PRId64 " %" PRIu32 " %" PRIu32, name,
                               half->variant ? "variant" : "original", half->at, half->unlike,
                               half->share);
    for (int i = 0; ok && i < PM_SESSION_USES; i++)
        ok = pm_buffer_printf(out, " %" PRIu64, half->nanoseconds[i]);
    for (int i = 0; ok && i < PM_SESSION_USES; i++)
        ok = pm_buffer_printf(out, " %" PRIx64, half->work[i]);
    return ok && pm_buffer_append_string(out, "\n");
}

static bool format_sessions(const struct pm_kept_variant *kept, struct pm_buffer *out)
{
    return (!kept->sessions.wanted ||
            (pm_buffer_append_string(out, "sessions") &&
             format_ratios(kept->sessions.ratios, kept->sessions.count, out))) &&
           format_half("half", &kept->sessions.half, out) &&
           format_half("own", &kept->sessions.own, out) &&
           (kept->sessions.charged <= 0 ||
            pm_buffer_printf(out, "charged %" PRId64 "\n", kept->sessions.charged));
}

bool pm_kept_format(const struct pm_kept_table *table, const char *layer, struct pm_buffer *out)
{
    bool ok = pm_buffer_printf(out, HEADER "layer %s\n", layer);
    for (size_t i = 0; ok && i < table->count; i++)
        ok = format_one(&table->variants[i], out) && format_tried(&table->variants[i], out) &&
             format_seen(&table->variants[i], out) && format_sessions(&table->variants[i], out);
    return ok;
}
