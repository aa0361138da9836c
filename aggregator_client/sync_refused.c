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

#define RULES_SUFFIX ".rules"
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
        kept = write_beside(to, RULES_SUFFIX, second, error);
    else if (kept)
        remove_beside(to, RULES_SUFFIX);
    kept = kept && (strcmp(path, to) == 0 || rename(path, to) == 0 ||
                    pm_fail_errno(error, errno, "%s: cannot move", path));
    free(folder);
    free(to);
    free(line);
    free(second);
    return kept;
}

void pm_refused_remove(const char *path)
{
    /* The upload goes first and for sure: what lies beside it alone is never sent. */
    unlink(path);
    remove_beside(path, RULES_SUFFIX);
    remove_beside(path, PM_SPOOL_REASON_SUFFIX);
}

/* ---- what there is ---- */

struct refused {
    char *path;
    uint64_t bytes;
    struct timespec modified;
    bool upload; /* and no session that could not be read */
};

struct all {
    struct refused *list;
    size_t count;
    bool uploads; /* that are looked for now */
};

static int compare_ages(const void *a, const void *b)
{
    const struct refused *left = a, *right = b;
    if (left->modified.tv_sec != right->modified.tv_sec)
        return left->modified.tv_sec < right->modified.tv_sec ? -1 : 1;
    if (left->modified.tv_nsec != right->modified.tv_nsec)
        return left->modified.tv_nsec < right->modified.tv_nsec ? -1 : 1;
    return strcmp(left->path, right->path);
}

static void add(void *user, const char *path)
{
    struct all *all = user;
    struct stat status;
    struct refused *more = lstat(path, &status) == 0 && S_ISREG(status.st_mode)
                               ? reallocarray(all->list, all->count + 1, sizeof(*more))
                               : NULL;
    if (!more)
        return;
    all->list = more;
    more[all->count] = (struct refused){.path = strdup(path),
                                        .bytes = (uint64_t)status.st_size,
                                        .modified = status.st_mtim,
                                        .upload = all->uploads};
    all->count += more[all->count].path != NULL;
}

/* The oldest first. What there is no memory for is not in it. */
static struct all find_all(const char *spool)
{
    struct all all = {.uploads = true};
    char *folder = NULL;
    if (asprintf(&folder, "%s/" PM_SPOOL_REFUSED, spool) < 0)
        return all;
    pm_folder_each(folder, PM_SPOOL_UPLOAD_SUFFIX, add, &all);
    all.uploads = false;
    pm_folder_each(folder, PM_SPOOL_SUFFIX, add, &all);
    free(folder);
    if (all.count > 1)
        qsort(all.list, all.count, sizeof(*all.list), compare_ages);
    return all;
}

static void finish_all(struct all *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->list[i].path);
    free(all->list);
}

void pm_refused_trim(const char *spool)
{
    struct all all = find_all(spool);
    const time_t first = time(NULL) - (time_t)PM_REFUSED_DAYS * DAY_SECONDS;
    uint64_t bytes = 0;
    size_t kept = 0;
    for (size_t i = all.count; i-- > 0;) {
        const struct refused *one = &all.list[i];
        bytes += one->bytes;
        if (++kept > PM_REFUSED_COUNT || bytes > PM_REFUSED_BYTES || one->modified.tv_sec < first)
            pm_refused_remove(one->path);
    }
    finish_all(&all);
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
    char *beside = pm_spool_beside(path, RULES_SUFFIX);
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
    struct all all = find_all(spool);
    bool go_on = true;
    for (size_t i = 0; go_on && i < all.count; i++)
        go_on = !all.list[i].upload || visit_one(all.list[i].path, visit, user);
    finish_all(&all);
}
