/*
 * By what uploads are refused, as one text that changes when what is refused may be taken: of the
 * server (its version and its limits), and behind a dot of a game (what is known of its shaders'
 * points was a lie, or was dropped). It goes with each refusal, so that a client may keep the
 * upload and ask later. Two texts of which one is the beginning of the other, up to the dot, say
 * the same of the server.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "aggregator/service/service_routes.h"
#include "base/error.h"

#define PM_RULES_HEADER "Piecemeal-Rules"
#define PM_RULES_TEXT 34 /* 16 digits, a dot, 16 digits, and a terminator */

/* game: NULL: of the server alone, which cannot fail. A game that is not known has rules, too. */
bool pm_rules_find(struct pm_service *service, const char *game, char text[static PM_RULES_TEXT],
                   struct pm_error *error);

/* GET of a game's; for tokens whose uploads no shader can refuse (they have a vote, votes.h) only
 * the server's. */
enum MHD_Result pm_get_rules(struct pm_get *get);
