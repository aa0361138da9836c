/*
 * What a session of the layer is doing, for people: `piecemeal status`, the sentence after each
 * `run`, an overlay. The layer writes it every second while it changes, a device a file, so that it
 * is there of a program that was killed too; it never leaves the machine.
 *
 * On the disk JSON (docs/status.md), $PLACE_DATA/status/<safe name of
 * game>/<process>-<device>.json. Beside the games' folders, $PLACE_DATA/control/<safe name of game>
 * says what the layer is to do: "pause", the game's own shaders are used; it is not there
 * otherwise.
 *
 * Thread safety: no state; any thread, any process.
 */
#pragma once

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PM_STATUS_TEXT = 256 };

struct pm_session_status {
    char game[PM_STATUS_TEXT], device[PM_STATUS_TEXT];
    char run[PM_STATUS_TEXT];     /* the run's name (journal_asked.h); "": nobody's */
    char why_not[PM_STATUS_TEXT]; /* why nothing is sampled; "": it is */
    double
        began; /* seconds since the epoch, with their fraction: runs of one second are told apart */
    int64_t process, written; /* written: seconds since the epoch */
    bool ended;               /* properly, by destroying the device */
    bool paused;              /* the game's own shaders are used, as somebody asked for */
    bool bound_by_cpu;        /* and left alone therefore */
    bool keeps_recordings;    /* it submits what it recorded again and again */
    bool synchronous;         /* debug.synchronous: copies of shaders are waited for */
    uint64_t heartbeats;      /* presents, or submissions where it never presents */
    uint64_t windows;         /* that were opened */
    uint64_t calls;   /* draws and dispatches recorded while a window is open, in command buffers
                         that may be sampled; each time again that such a one is submitted */
    uint64_t sampled; /* of them */
    double api_probability, window_probability; /* as configured */
    uint32_t shaders, shaders_sampled;          /* fragment and compute shaders */
    uint32_t points, points_sampled;            /* of the shaders that were sampled */
    uint32_t specialized;          /* shaders of which a specialized variant is in use */
    uint32_t by_blocks, by_recipe; /* of them by how often blocks run; by A-Z testing */
    uint32_t to_time;   /* others, of which an untried one is drawn with throughout the session, for
                           a trial over sessions */
    uint32_t comparing; /* of which variants are compared by A-Z testing */
    uint32_t trying, dropped; /* that are tried; that were found no faster */
    double fastest, slowest;  /* of those in use that were tried in this session, time of the
                                 original  over the variant's; 0: none was */
    bool of_passes;           /* what was timed: render passes, not calls */
    uint64_t frames_more; /* that a trial needs, at most, to be decided; 0: none is under way, or
                             it cannot be told yet */
};

/* Where a game's statuses lie, and the file that says that it is paused: as the environment says
 * now, which a game may change while another thread looks. malloc'ed; NULL: no home, or no memory. */
char *pm_session_status_folder(const char *game);
char *pm_session_control_path(const char *game);

/* Brings it to the disk; folder: pm_session_status_folder's, NULL: as the environment says now;
 * device: its number in the process. Those of processes that are over go, when first (the first
 * time that this device is written). */
bool pm_session_status_write(const char *folder, const struct pm_session_status *status,
                             unsigned device, bool first, struct pm_error *error);

/* Calls visit for each device of each session of a game that is there; game NULL: of all games. */
void pm_session_status_each(const char *game,
                            void (*visit)(void *user, const struct pm_session_status *status),
                            void *user);

/* Whether its process still is at it: it did not end, and whoever has its number now is no process
 * that began after this was written. */
bool pm_session_runs(const struct pm_session_status *status);

/* Whether the game is to use its own shaders, by its name or by pm_session_control_path's; and says
 * so. */
bool pm_session_is_paused(const char *game);
bool pm_session_is_paused_by(const char *path);
bool pm_session_pause(const char *game, bool paused, struct pm_error *error);
