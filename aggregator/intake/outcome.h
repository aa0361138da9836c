/*
 * What became of an upload.
 *
 * Thread safety: plain values.
 */
#pragma once

#include "base/error.h"

enum pm_ingest_result {
    PM_INGEST_STORED,
    PM_INGEST_DUPLICATE, /* its upload id was stored before: counted once */
    PM_INGEST_NO_ROOM,   /* nothing of it was kept: its game is new, and as many are known as may */
    PM_INGEST_REFUSED, /* nothing of it was kept: it cannot be, or disagrees with what is known of a
                          shader */
};

struct pm_ingest_outcome {
    enum pm_ingest_result result;
    bool uncounted; /* stored or duplicate: its token had counted often enough in this epoch */
    struct pm_error reason; /* why it was refused; the message names shader, point and field */
};
