/* Runs a fuzz target on files and directories of files, for builds without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        perror(path);
        return 1;
    }
    uint8_t *data = NULL;
    size_t size = 0, got;
    uint8_t part[4096];
    while ((got = fread(part, 1, sizeof(part), stream)) > 0) {
        uint8_t *more = realloc(data, size + got);
        if (!more)
            abort();
        data = more;
        memcpy(data + size, part, got);
        size += got;
    }
    fclose(stream);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

static int run_directory(const char *path)
{
    DIR *directory = opendir(path);
    if (!directory) {
        perror(path);
        return 1;
    }
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        failed |= run_file(name);
    }
    closedir(directory);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        struct stat status;
        if (stat(argv[i], &status) != 0) {
            perror(argv[i]);
            failed = 1;
        } else {
            failed |= S_ISDIR(status.st_mode) ? run_directory(argv[i]) : run_file(argv[i]);
        }
    }
    return failed;
}
