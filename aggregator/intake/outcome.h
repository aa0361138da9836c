/*
 * What became of an upload.
 *
 * Thread safety: plain values.
 */
#pragma once

#include "base/error.h"
#include <stdint.h>

enum pm_ingest_result {
    PM_INGEST_STORED,
    PM_INGEST_DUPLICATE, /* its upload id was stored before: counted once */
    PM_INGEST_NO_ROOM,   /* nothing of it was kept: its game is new, and as many are known as may */
    PM_INGEST_REFUSED,   /* nothing of it was kept: it cannot be, or disagrees with all that is
                            known of its shaders */
};

struct pm_ingest_outcome {
    enum pm_ingest_result result;
    bool uncounted;    /* stored or duplicate: its token had counted often enough in this epoch */
    uint32_t left_out; /* stored: shaders that disagree with what is known of them, and are left
                          out; of what has a token that is known when the day has ended (votes.h) */
    struct pm_error reason; /* why it was refused, or the first shader left out; the message names
                               shader, point and field */
};
