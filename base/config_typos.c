#include "base/config_typos.h"

#include "base/config.h"
#include "base/file.h"
#include "base/nearest.h"
#include <ctype.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_VARIABLE = 128, LONGEST_LINE = 512, LONGEST_NAME = 1024 };

static const char prefix[] = "PIECEMEAL_";
static const char suffix[] = ".json";

/* Ours, but no keys. */
static const char *const others[] = {
    "PIECEMEAL_ENABLE", "PIECEMEAL_DISABLE", "PIECEMEAL_CONFIG",        "PIECEMEAL_SPOOL",
    "PIECEMEAL_GAMES",  "PIECEMEAL_LOG_FD",  "PIECEMEAL_SERVE_OPTIONS", "PIECEMEAL_DATABASES",
    "PIECEMEAL_RUN",    "PIECEMEAL_JOURNAL", "PIECEMEAL_RUN_GIVEN",
};

/* ---- variables ---- */

struct nearest {
    const char *name; /* of the variable */
    bool known;
    size_t distance;
    char best[LONGEST_VARIABLE];
};

static void compare(struct nearest *nearest, const char *known)
{
    const size_t distance = pm_nearest_distance(known, nearest->name, strlen(nearest->name));
    nearest->known |= distance == 0;
    if (distance < nearest->distance) {
        nearest->distance = distance;
        snprintf(nearest->best, sizeof(nearest->best), "%s", known);
    }
}

static void look_up(struct nearest *nearest)
{
    char variable[LONGEST_VARIABLE];
    const char *key;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        compare(nearest, others[i]);
    for (size_t i = 0; (key = pm_config_key(i)) != NULL; i++)
        if (pm_config_variable(key, variable, sizeof(variable)))
            compare(nearest, variable);
}

void pm_config_variable_typos(char *const *environment,
                              void (*found)(void *user, const char *message), void *user)
{
    for (char *const *at = environment; at && *at; at++) {
        if (strncmp(*at, prefix, sizeof(prefix) - 1) != 0)
            continue;
        char name[LONGEST_VARIABLE], line[LONGEST_LINE];
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(*at, "="), *at);
        struct nearest nearest = {.name = name, .distance = SIZE_MAX};
        look_up(&nearest);
        if (nearest.known)
            continue;
        /* What all begin with says nothing about what was meant. */
        if (nearest.distance <= pm_nearest_most(name + sizeof(prefix) - 1))
            snprintf(line, sizeof(line), "%s in the environment is ignored; did you mean %s?", name,
                     nearest.best);
        else
            snprintf(line, sizeof(line), "%s in the environment is ignored: no key has that name",
                     name);
        found(user, line);
    }
}

/* ---- files ---- */

/* Its name without ".json"; false: it is no file of a configuration. */
static bool stem_of(const char *file, char stem[static LONGEST_NAME])
{
    const size_t length = strlen(file), tail = sizeof(suffix) - 1;
    if (length <= tail || length - tail >= LONGEST_NAME || file[0] == '.' ||
        strcmp(file + length - tail, suffix) != 0 || strcmp(file, "consent.json") == 0)
        return false;
    memcpy(stem, file, length - tail);
    stem[length - tail] = '\0';
    return true;
}

/* The bytes that "%XX" in a safe name stand for; in place. */
static void unescape(char *name)
{
    char *to = name;
    for (const char *from = name; *from; to++) {
        if (from[0] == '%' && isxdigit((unsigned char)from[1]) &&
            isxdigit((unsigned char)from[2])) {
            const char hex[] = {from[1], from[2], '\0'};
            *to = (char)strtoul(hex, NULL, 16);
            from += 3;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* Letters and digits, small ones: what people keep of a name when they write it again. */
static void reduce(const char *name, char out[static LONGEST_NAME])
{
    size_t size = 0;
    for (; *name && size + 1 < LONGEST_NAME; name++) {
        const unsigned char c = (unsigned char)*name;
        if (isalnum(c) || c >= 0x80)
            out[size++] = (char)tolower(c);
    }
    out[size] = '\0';
}

/* The safe name of what a file's name without ".json" says, which it has when a game reads it;
 * malloc'ed. */
static char *right_name(const char *stem)
{
    char plain[LONGEST_NAME];
    snprintf(plain, sizeof(plain), "%s", stem);
    unescape(plain);
    return pm_file_safe_name(plain);
}

char *pm_config_misnamed(const char *game)
{
    char *right = pm_config_game_path(game), *folder = pm_place_path(PM_PLACE_CONFIG, NULL);
    char *found = NULL, wanted[LONGEST_NAME];
    DIR *directory = right && folder && access(right, F_OK) != 0 ? opendir(folder) : NULL;
    reduce(game, wanted);
    for (struct dirent *entry; directory && !found && (entry = readdir(directory));) {
        char stem[LONGEST_NAME], has[LONGEST_NAME];
        if (!stem_of(entry->d_name, stem))
            continue;
        unescape(stem);
        reduce(stem, has);
        if (wanted[0] && pm_nearest_distance(wanted, has, strlen(has)) <= strlen(wanted) / 8 &&
            asprintf(&found, "%s/%s", folder, entry->d_name) < 0)
            found = NULL;
    }
    if (directory)
        closedir(directory);
    free(folder);
    free(right);
    return found;
}

void pm_config_files(void (*misnamed)(void *user, const char *path, const char *right),
                     void (*named)(void *user, const char *path), void *user)
{
    char *folder = pm_place_path(PM_PLACE_CONFIG, NULL);
    DIR *directory = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        char stem[LONGEST_NAME], *path = NULL, *right = NULL, *file = NULL;
        if (!stem_of(entry->d_name, stem) || !(right = right_name(stem)) ||
            asprintf(&path, "%s/%s", folder, entry->d_name) < 0) {
            free(right);
            continue;
        }
        if (strcmp(right, stem) == 0) {
            if (named)
                named(user, path);
        } else if (asprintf(&file, "%s%s", right, suffix) >= 0) {
            misnamed(user, path, file);
            free(file);
        }
        free(path);
        free(right);
    }
    if (directory)
        closedir(directory);
    free(folder);
}
