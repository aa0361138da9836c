/*
 * What a claim is of: the scope that the storage knows it by, and a number that it is remembered
 * by.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "aggregator/storage/storage.h"

/* Of the profiles in an environment, without flags (plain) or with some, of one scene ("": of all).
 */
void pm_claims_scope(const struct pm_environment *environment, bool plain, const char *scene,
                     uint8_t scope[static PM_SCOPE_BYTES]);

/* What a source says something about. */
struct pm_subject {
    const char *game;
    const struct pm_shader_profile *shader;
    const char *scene; /* as for pm_claims_scope; NULL: shader->original */
};

struct pm_storage_claim pm_subject_name(const struct pm_subject *subject);
/* A number for the claim that nobody outside can predict, since uploaders choose keys and names. */
uint64_t pm_subject_number(const struct pm_subject *subject, const uint64_t secret[static 2]);
