/* Ends the process where a random shader hangs, and says which: its module is left in the current
 * folder. One process, one thread. */
#pragma once

#include "shader_rewrite/ir/words.h"

/* A seed begins: it hangs when it takes so many seconds of processor time, or waits for so many. */
void hangs_watch(uint64_t seed, unsigned run, unsigned waited);
/* What runs now, by name; its words stay the caller's. */
void hangs_runs(const char *name, const struct pm_words *words);
/* No seed runs any more. */
void hangs_rest(void);
/* Says which seed was the last one, if it did not come to its end. */
void hangs_say_last(void);
