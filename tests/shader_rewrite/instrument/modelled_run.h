/* Shared by the files that compare what the model counts in variants (modelled.h). */
#pragma once

#include "tests/shader_rewrite/instrument/modelled.h"

/* The call's buffers, the one that is written filled with what nobody writes. */
void modelled_give(struct modelled *call, struct model *model);
/* Runs a variant; fails unless it writes what is expected. user: the call. */
void modelled_run_together(void *user, struct model *model);
