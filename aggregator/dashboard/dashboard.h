/*
 * The dashboard: its pages, and the JSON API that they read. A service that is given its routes
 * (struct pm_service_info) has it.
 *
 * Thread safety: read-only.
 */
#pragma once

#include "aggregator/service/service_routes.h"

extern const struct pm_routes pm_dashboard_routes;
