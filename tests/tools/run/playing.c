/* Stands for a game under the layer with a specialized shader in use, unless safe mode holds that
 * back: shows life, says where in a file, and goes on until it is ended. usage: playing FILE
 * [ends|quits|crashes|stays]: what it does when SIGTERM or SIGINT comes; without, it dies of it. Or
 * `playing judge`: what the sessions that have ended say. */
#include "profile/game_note.h"
#include "profile/journal.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GAME "playing"

static void end(int number)
{
    (void)number;
    _exit(3);
}

static volatile sig_atomic_t quits;

static void quit(int number)
{
    (void)number;
    quits = 1;
}

static void crash(int number)
{
    (void)number;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static int judge(void)
{
    struct pm_error error = {0};
    struct pm_journal_state state;
    struct pm_journal *journal = pm_journal_open(NULL, GAME, &state, &error);
    if (!journal) {
        fprintf(stderr, "playing: %s\n", error.message);
        return 1;
    }
    printf("bad %u held %u\n", state.judged_bad, state.held + state.held_for_good);
    pm_journal_close(journal);
    return 0;
}

int main(int argc, char **argv)
{
    struct pm_error error = {0};
    const struct pm_shader_key key = {{7}};
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "judge") == 0)
        return judge();
    const char *what = argc > 2 ? argv[2] : "";
    void (*act)(int) = strcmp(what, "ends") == 0      ? end
                       : strcmp(what, "quits") == 0   ? quit
                       : strcmp(what, "crashes") == 0 ? crash
                       : strcmp(what, "stays") == 0   ? SIG_IGN
                                                      : SIG_DFL;
    signal(SIGTERM, act);
    signal(SIGINT, act);
    struct pm_journal *journal = pm_journal_open(NULL, GAME, NULL, &error);
    if (journal)
        pm_journal_begin(journal);
    pm_game_note(GAME);
    const bool plain = journal && pm_journal_holds(journal, &key);
    struct pm_journal_entry *entry =
        journal && !plain ? pm_journal_write(journal, &key, &error) : NULL;
    FILE *file = entry || plain ? fopen(argv[1], "w") : NULL;
    if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file) != 0) {
        fprintf(stderr, "playing: %s\n", error.message);
        return 1;
    }
    if (entry)
        pm_journal_used(entry);
    for (int64_t now = 1000; !quits; now++) {
        pm_journal_heartbeat(journal, now, 600);
        pm_journal_alive(journal);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    pm_journal_close(journal);
    return 0;
}
