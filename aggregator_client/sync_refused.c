#include "aggregator_client/sync_refused.h"

#include "aggregator_client/disk/spool_format.h"
#include "base/file.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DAY_SECONDS 86400

static bool write_beside(const char *path, const char *suffix, const char *text,
                         struct pm_error *error)
{
    char *beside = pm_spool_beside(path, suffix);
    const bool written = (beside || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
                         pm_file_write(beside, text, strlen(text), error);
    free(beside);
    return written;
}

static void remove_beside(const char *path, const char *suffix)
{
    char *beside = pm_spool_beside(path, suffix);
    if (beside)
        unlink(beside);
    free(beside);
}

bool pm_refused_keep(const char *spool, const char *path, const char *reason,
                     const struct pm_refusal *refusal, unsigned tries, struct pm_error *error)
{
    char *folder = NULL, *to = NULL, *line = NULL, *second = NULL;
    bool kept =
        (asprintf(&folder, "%s/" PM_SPOOL_REFUSED, spool) >= 0 &&
         asprintf(&to, "%s%s", folder, strrchr(path, '/')) >= 0 &&
         asprintf(&line, "%s\n", reason) >= 0 &&
         asprintf(&second, "%u %s %" PRId64 "\n", tries, refusal->rules, refusal->date) >= 0) ||
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    kept = kept && pm_make_folder(folder, error) &&
           write_beside(to, PM_SPOOL_REASON_SUFFIX, line, error);
    if (kept && *refusal->rules)
        kept = write_beside(to, PM_SPOOL_RULES_SUFFIX, second, error);
    else if (kept)
        remove_beside(to, PM_SPOOL_RULES_SUFFIX);
    kept = kept && (strcmp(path, to) == 0 || rename(path, to) == 0 ||
                    pm_fail_errno(error, errno, "%s: cannot move", path));
    free(folder);
    free(to);
    free(line);
    free(second);
    return kept;
}

/* ---- what there is ---- */

static bool ends_with(const char *path, const char *suffix)
{
    const size_t length = strlen(path), tail = strlen(suffix);
    return length > tail && strcmp(path + length - tail, suffix) == 0;
}

static bool is_upload(const struct pm_spool_refused *one)
{
    return ends_with(one->path, PM_SPOOL_UPLOAD_SUFFIX);
}

void pm_refused_trim(const char *spool, int64_t date)
{
    struct pm_spool_all_refused all = pm_spool_refused_find(spool);
    const int64_t ours = time(NULL), now = date < ours ? date : ours;
    const int64_t first = now - (int64_t)PM_REFUSED_DAYS * DAY_SECONDS;
    uint64_t bytes = 0;
    size_t kept = 0;
    for (size_t i = all.count; i-- > 0;) {
        const struct pm_spool_refused *one = &all.list[i];
        if (!is_upload(one) && !ends_with(one->path, PM_SPOOL_SUFFIX))
            continue;
        bytes += one->bytes;
        if (++kept > PM_REFUSED_COUNT || bytes > PM_REFUSED_BYTES || one->modified.tv_sec < first)
            pm_spool_refused_remove(one->path);
    }
    pm_spool_refused_finish(&all);
}

/* ---- again ---- */

bool pm_refused_rules_are_same(const char *then, const char *now)
{
    const size_t length = strlen(then);
    return strncmp(then, now, length) == 0 && (now[length] == '\0' || now[length] == '.');
}

/* What lies beside an upload: how often it was sent, by what it was refused, and when that was
 * there, which earlier versions did not put down. */
static bool read_rules(const char *path, struct pm_refused_upload *upload)
{
    char *const rules = upload->refusal.rules;
    char *beside = pm_spool_beside(path, PM_SPOOL_RULES_SUFFIX);
    struct pm_buffer text;
    pm_buffer_init(&text, 2 * PM_HTTP_RULES);
    bool known = beside && pm_file_read(beside, &text, NULL) && text.size > 0;
    if (known) {
        char *at;
        const unsigned long number = strtoul((const char *)text.data, &at, 10);
        const size_t length = *at == ' ' ? strcspn(++at, " \n") : 0;
        known = number > 0 && number < PM_REFUSED_TRIES && length > 0 && length < PM_HTTP_RULES;
        upload->tries = (unsigned)number;
        if (known) {
            memcpy(rules, at, length);
            rules[length] = '\0';
            upload->refusal.date = strtoll(at + length, NULL, 10);
        }
    }
    pm_buffer_finish(&text);
    free(beside);
    return known;
}

static bool visit_one(const char *path, pm_refused_visit visit, void *user)
{
    struct pm_refused_upload upload = {.path = path};
    struct pm_buffer body, wire;
    struct pm_profile profile;
    bool go_on = true;
    if (!read_rules(path, &upload))
        return true;
    struct pm_arena *arena = pm_arena_create(0);
    pm_buffer_init(&body, pm_profile_limits_default.decompressed_bytes);
    pm_buffer_init(&wire, pm_profile_limits_default.decompressed_bytes);
    if (arena && pm_file_read(path, &body, NULL) &&
        pm_decompress(body.data, body.size, &wire, NULL) &&
        pm_profile_decode(wire.data, wire.size, NULL, arena, &profile, NULL)) {
        upload.game = profile.game;
        upload.day = profile.day;
        go_on = visit(user, &upload);
    }
    pm_buffer_finish(&wire);
    pm_buffer_finish(&body);
    pm_arena_destroy(arena);
    return go_on;
}

void pm_refused_list(const char *spool, pm_refused_visit visit, void *user)
{
    struct pm_spool_all_refused all = pm_spool_refused_find(spool);
    bool go_on = true;
    for (size_t i = 0; go_on && i < all.count; i++)
        go_on = !is_upload(&all.list[i]) || visit_one(all.list[i].path, visit, user);
    pm_spool_refused_finish(&all);
}
