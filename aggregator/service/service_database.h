/*
 * Answers with PGO databases, whose bodies all connections share.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "aggregator/service/service_routes.h"

enum MHD_Result pm_get_database(struct pm_get *get);
enum MHD_Result pm_get_previous_database(struct pm_get *get);
/* Races of the game's variants. Also of a game that is not known, or of which nothing is known yet:
 * that there is an answer tells clients that this server takes what they measured of variants. */
enum MHD_Result pm_get_races(struct pm_get *get);
/* What an operator signed of the game. */
enum MHD_Result pm_get_verdicts(struct pm_get *get);
