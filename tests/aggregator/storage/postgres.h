/* A PostgreSQL that a test has for itself (with_postgres.sh), asked beside the storage. */
#pragma once

#include "tests/aggregator/storage/storage_place.h"

/* The one value that a statement answers, "" without one; the caller frees. */
char *postgres_ask(const struct storage_place *place, const char *sql);
void postgres_assert_answer(const struct storage_place *place, const char *sql, const char *wanted);

/* One upload of a day; each number has an id of its own. */
struct pm_storage_upload postgres_upload_of(uint8_t number, uint32_t day);
/* Is it fresh? */
bool postgres_take(struct pm_storage *storage, struct pm_storage_upload upload);
