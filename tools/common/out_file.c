#include "tools/common/out_file.h"

#include "base/file.h"
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_LINKS = 40 };

char *pm_out_beside(const char *path, struct pm_error *error)
{
    struct stat there;
    char *beside = pm_file_make_beside(path, error);
    if (beside && stat(path, &there) == 0) {
        chmod(beside, (there.st_mode & 0777) | S_IWUSR);
    } else if (beside) {
        const mode_t mask = umask(0);
        umask(mask);
        chmod(beside, 0666 & ~mask);
    }
    return beside;
}

static bool cannot(const char *path, struct pm_error *error)
{
    return pm_fail_errno(error, errno, "%s: cannot be written", path);
}

static bool write_to(FILE *out, const char *path, pm_out_writer write, void *user,
                     struct pm_error *error)
{
    return write(user, out, error) && ((fflush(out) == 0 && !ferror(out)) || cannot(path, error));
}

static bool is_within(const char *folder, const char *of)
{
    const size_t size = strlen(of);
    return strncmp(folder, of, size) == 0 && (folder[size] == '/' || folder[size] == '\0');
}

/* The whole path of the folder that it is in; malloc'ed, NULL: there is none. */
static char *folder_of(const char *path)
{
    char *copy = strdup(path);
    char *folder = copy ? realpath(dirname(copy), NULL) : NULL;
    free(copy);
    return folder;
}

/* What a link in the folder says, as a path; malloc'ed, NULL: out of memory. */
static char *follow(const char *folder, const char *to)
{
    char *next = NULL;
    if (to[0] == '/')
        return strdup(to);
    return asprintf(&next, "%s/%s", folder, to) < 0 ? NULL : next;
}

char *pm_out_place(const char *path)
{
    char *at = strdup(path);
    for (int links = 0; at && links < MOST_LINKS; links++) {
        char to[PATH_MAX];
        char *next = NULL, *folder = folder_of(at);
        const bool own = folder && !is_within(folder, "/dev") && !is_within(folder, "/proc");
        const ssize_t size = own ? readlink(at, to, sizeof to - 1) : -1;
        if (size > 0) {
            to[size] = '\0';
            next = follow(folder, to);
        }
        free(folder);
        if (own && size < 0)
            return at;
        free(at);
        at = next;
    }
    free(at);
    return NULL;
}

bool pm_out_spares(const char *out, const char *read, struct pm_error *error)
{
    return !pm_file_is_same(out, read) ||
           pm_fail(error, PM_ERROR_INPUT, "%s: is what is read, and would be lost", out);
}

bool pm_out_file(const char *path, pm_out_writer write, void *user, struct pm_error *error)
{
    struct stat status;
    if (!path)
        return write_to(stdout, "standard output", write, user, error);
    char *place = stat(path, &status) != 0 || S_ISREG(status.st_mode) ? pm_out_place(path) : NULL;
    const bool plain = place != NULL;
    char *beside = plain ? pm_out_beside(place, error) : NULL;
    if (plain && !beside) {
        free(place);
        return false;
    }
    FILE *out = fopen(plain ? beside : path, "we");
    bool done = out || cannot(path, error);
    done = done && write_to(out, path, write, user, error);
    if (out && fclose(out) != 0 && done)
        done = cannot(path, error);
    done = done && (!plain || pm_file_replace(beside, place, error));
    if (!done && plain)
        unlink(beside);
    free(beside);
    free(place);
    return done;
}

struct bytes {
    const void *data;
    size_t size;
};

static bool write_bytes(void *user, FILE *out, struct pm_error *error)
{
    const struct bytes *bytes = user;
    (void)error; /* what goes wrong is kept by the file */
    if (bytes->size > 0)
        fwrite(bytes->data, 1, bytes->size, out);
    return true;
}

bool pm_out_bytes(const char *path, const void *data, size_t size, struct pm_error *error)
{
    struct bytes bytes = {data, size};
    return pm_out_file(path, write_bytes, &bytes, error);
}
