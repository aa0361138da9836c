#include "aggregator_client/client.h"
#include "base/file.h"
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST_FILE = 4096 };

static const char granted[] = "granted", revoked[] = "revoked";

/* The one key of the file; nothing but the exact words counts. */
static bool understand(const char *path, const struct pm_buffer *text, enum pm_consent *consent,
                       struct pm_error *error)
{
    cJSON *root = text->data ? cJSON_ParseWithLength((char *)text->data, text->size) : NULL;
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "upload"));
    bool known = true;
    if (word && strcmp(word, granted) == 0)
        *consent = PM_CONSENT_GRANTED;
    else if (word && strcmp(word, revoked) == 0)
        *consent = PM_CONSENT_REVOKED;
    else
        known = pm_fail(error, PM_ERROR_INPUT,
                        "%s: is damaged, so nothing is sent; run `piecemeal consent` again", path);
    cJSON_Delete(root);
    return known;
}

bool pm_consent_read(enum pm_consent *consent, struct pm_error *error)
{
    *consent = PM_CONSENT_UNASKED;
    char *path = pm_place_path(PM_PLACE_CONFIG, "consent.json");
    if (!path)
        return pm_fail(error, PM_ERROR_MEMORY, "no place for the consent");
    bool read = true;
    if (access(path, F_OK) == 0) {
        struct pm_buffer text;
        pm_buffer_init(&text, LARGEST_FILE);
        read = pm_file_read(path, &text, error) && understand(path, &text, consent, error);
        pm_buffer_finish(&text);
    } else if (errno != ENOENT && errno != ENOTDIR) {
        read = pm_fail_errno(error, errno, "%s: cannot look", path);
    }
    free(path);
    return read;
}

static bool write_word(const char *path, const char *word, struct pm_error *error)
{
    struct pm_buffer text;
    pm_buffer_init(&text, LARGEST_FILE);
    bool written = (pm_buffer_printf(&text, "{\"upload\": \"%s\"}\n", word) ||
                    pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", path)) &&
                   pm_file_write(path, text.data, text.size, error);
    pm_buffer_finish(&text);
    return written;
}

bool pm_consent_write(enum pm_consent consent, struct pm_error *error)
{
    char *folder = pm_place_path(PM_PLACE_CONFIG, NULL);
    char *path = pm_place_path(PM_PLACE_CONFIG, "consent.json");
    bool written;
    if (!folder || !path)
        written = pm_fail(error, PM_ERROR_MEMORY, "no place for the consent");
    else if (consent == PM_CONSENT_UNASKED)
        written = unlink(path) == 0 || errno == ENOENT ||
                  pm_fail_errno(error, errno, "%s: cannot remove", path);
    else
        written = pm_make_folder(folder, error) &&
                  write_word(path, consent == PM_CONSENT_GRANTED ? granted : revoked, error);
    free(folder);
    free(path);
    return written;
}
