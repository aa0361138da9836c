#include "tests/null_driver/internal.h"

#include <stdio.h>
#include <stdlib.h>

struct pm_null_config pm_null_config;
_Atomic uint64_t pm_null_delay_us;

static uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void list(const char *variable, char *out, size_t size)
{
    const char *text = getenv(variable);
    snprintf(out, size, ",%s,", text ? text : "");
}

bool pm_null_listed(const char *list, const char *name)
{
    char pattern[256];
    snprintf(pattern, sizeof(pattern), ",%s,", name);
    return strstr(list, pattern) != NULL;
}

void pm_null_config_load(void)
{
    struct pm_null_config *config = &pm_null_config;
    unsigned major = 1, minor = 3;
    const char *version = getenv("PM_NULL_API_VERSION");
    if (version && sscanf(version, "%u.%u", &major, &minor) != 2)
        pm_null_error("PM_NULL_API_VERSION is no version");
    config->api_version = VK_MAKE_API_VERSION(0, major, minor, VK_HEADER_VERSION);
    config->subgroup_size = (uint32_t)number("PM_NULL_SUBGROUP_SIZE", 32);
    config->least_subgroup_size =
        (uint32_t)number("PM_NULL_LEAST_SUBGROUP_SIZE", config->subgroup_size);
    config->most_subgroup_size =
        (uint32_t)number("PM_NULL_MOST_SUBGROUP_SIZE", config->subgroup_size);
    config->subgroup_stages = (uint32_t)number(
        "PM_NULL_SUBGROUP_STAGES", VK_SHADER_STAGE_ALL_GRAPHICS | VK_SHADER_STAGE_COMPUTE_BIT);
    config->subgroup_operations = (uint32_t)number("PM_NULL_SUBGROUP_OPERATIONS", 0xff);
    config->timestamp_bits = (uint32_t)number("PM_NULL_TIMESTAMP_BITS", 64);
    config->device_type =
        (uint32_t)number("PM_NULL_DEVICE_TYPE", VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU);
    config->compile_us = number("PM_NULL_COMPILE_US", 0);
    config->driver_id = (uint32_t)number("PM_NULL_DRIVER_ID", 0);
    const char *info = getenv("PM_NULL_DRIVER_INFO");
    snprintf(config->driver_info, sizeof(config->driver_info), "%s", info ? info : "");
    config->compiled = number("PM_NULL_COMPILED", 0) != 0;
    atomic_store(&pm_null_delay_us, number("PM_NULL_DELAY_US", 0));
    list("PM_NULL_WITHOUT_EXTENSIONS", config->without_extensions,
         sizeof(config->without_extensions));
    list("PM_NULL_WITHOUT_FEATURES", config->without_features, sizeof(config->without_features));
    pm_null_record_enable(number("PM_NULL_RECORD", 1) != 0);
    const char *faults = getenv("PM_NULL_FAIL");
    if (faults && !pm_null_fail(faults))
        pm_null_error("PM_NULL_FAIL is malformed");
}
