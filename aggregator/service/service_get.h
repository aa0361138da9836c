/*
 * What the service answers by itself, without a dashboard: databases, whether all is well, and what
 * it counts of itself.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "aggregator/service/service_metrics.h"
#include "aggregator/service/service_routes.h"

extern const struct pm_routes pm_service_routes;

/* What GET /metrics shows of this moment. */
struct pm_metrics_gauges pm_service_gauges(struct pm_service *service);
