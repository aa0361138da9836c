/* For tests of the journal: a folder of the test's own, and sessions of which some are killed. */
#pragma once

#include "profile/journal.h"

extern char journals_home[96];
extern struct pm_journal_state journals_state; /* as the latest journal found it */

/* cmocka's. */
int journals_set_up(void **unused);
int journals_tear_down(void **unused);
#define JOURNALS_TEST(name)                                                                        \
    cmocka_unit_test_setup_teardown(name, journals_set_up, journals_tear_down)

/* The key of a variant, which is named by a letter. */
struct pm_shader_key journals_key(uint8_t name);

/* A session with a device. */
struct pm_journal *journals_begin(void);
bool journals_holds(const struct pm_journal *journal, uint8_t name);

/* Makes and uses variants, as the layer does: none that is held back. */
void journals_use(struct pm_journal *journal, const char *names);

/* A child process that does something and is killed then. */
void journals_killed_after(void (*act)(const char *names), const char *names);

/* The session's file that there is; how many there are. */
enum { JOURNALS_PATH = 500 };
size_t journals_find(char path[JOURNALS_PATH]);

/* What a session that begins now holds back, of a to d. */
void journals_assert_held(const char *expected);
