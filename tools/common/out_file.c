#include "tools/common/out_file.h"

#include "base/file.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *pm_out_beside(const char *path, struct pm_error *error)
{
    char *beside = pm_file_make_beside(path, error);
    if (beside) {
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

bool pm_out_file(const char *path, pm_out_writer write, void *user, struct pm_error *error)
{
    struct stat status;
    if (!path)
        return write_to(stdout, "standard output", write, user, error);
    const bool plain = stat(path, &status) != 0 || S_ISREG(status.st_mode);
    char *beside = plain ? pm_out_beside(path, error) : NULL;
    if (plain && !beside)
        return false;
    FILE *out = fopen(plain ? beside : path, "we");
    bool done = out || cannot(path, error);
    done = done && write_to(out, path, write, user, error);
    if (out && fclose(out) != 0 && done)
        done = cannot(path, error);
    done = done && (!plain || pm_file_replace(beside, path, error));
    if (!done && plain)
        unlink(beside);
    free(beside);
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
