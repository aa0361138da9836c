#include "profile/machine_lot.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/random.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 16 };

static bool read_lot(const char *path, uint64_t *lot)
{
    struct pm_buffer text;
    char digits[DIGITS + 1] = "";
    pm_buffer_init(&text, 64);
    const bool whole = pm_file_read(path, &text, NULL) && text.size == DIGITS + 1 &&
                       ((const char *)text.data)[DIGITS] == '\n';
    if (whole)
        memcpy(digits, text.data, DIGITS);
    pm_buffer_finish(&text);
    if (!whole || strspn(digits, "0123456789abcdef") != DIGITS)
        return false;
    *lot = strtoull(digits, NULL, 16);
    return true;
}

static void write_lot(const char *path, uint64_t lot)
{
    char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    char text[DIGITS + 2];
    if (slash && slash != folder) {
        *slash = '\0';
        pm_make_folder(folder, NULL);
    }
    free(folder);
    snprintf(text, sizeof text, "%016" PRIx64 "\n", lot);
    pm_file_put(path, text, DIGITS + 1, NULL);
}

uint64_t pm_machine_lot(const char *path)
{
    char *place = path ? strdup(path) : pm_place_path(PM_PLACE_DATA, "lot");
    uint64_t lot = 0;
    if (place && read_lot(place, &lot)) {
        free(place);
        return lot;
    }
    if (!pm_random_system(&lot, sizeof lot))
        lot = (uint64_t)pm_now();
    /* Of two processes that draw at once the later one's stays, and each has a lot now. */
    if (place)
        write_lot(place, lot);
    free(place);
    return lot;
}

bool pm_lot_falls(uint64_t lot, const struct pm_shader_key *key, double share)
{
    uint64_t of_key;
    memcpy(&of_key, key->bytes, sizeof of_key);
    return (double)(pm_random_mix(lot ^ of_key) >> 11) * 0x1p-53 < share;
}
