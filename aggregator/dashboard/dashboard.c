#include "aggregator/dashboard/dashboard.h"

#include "aggregator/dashboard/api.h"
#include "aggregator/dashboard/pages.h"

#define GAME "/v1/games/{}"
#define SHADER GAME "/shaders/{}"

static const struct pm_route routes[] = {
    {"/", PM_ACCESS_OPEN, pm_pages_answer},
    {"/assets/{}", PM_ACCESS_OPEN, pm_pages_answer},
    {"/v1/openapi.json", PM_ACCESS_OPEN, pm_pages_answer},
    {"/v1/status", PM_ACCESS_READ, pm_api_status},
    {"/v1/quarantine", PM_ACCESS_READ, pm_api_quarantine},
    {"/v1/games", PM_ACCESS_READ, pm_api_games},
    {GAME, PM_ACCESS_READ, pm_api_game},
    {GAME "/coverage", PM_ACCESS_READ, pm_api_coverage},
    {GAME "/candidates", PM_ACCESS_READ, pm_api_candidates},
    {GAME "/variants", PM_ACCESS_READ, pm_api_variants},
    {GAME "/shaders", PM_ACCESS_READ, pm_api_shaders},
    {SHADER, PM_ACCESS_READ, pm_api_shader},
    {SHADER "/{}", PM_ACCESS_READ, pm_api_points},
};

const struct pm_routes pm_dashboard_routes = {routes, sizeof(routes) / sizeof(routes[0])};
