/*
 * The dashboard's files and the API's description, compiled in. They hold no data, and so need no
 * token: what they show they fetch from the API, with the token that a person gave.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "aggregator/service/service_routes.h"

enum MHD_Result pm_pages_answer(struct pm_get *get);
