#include "tests/layer/layered.h"

#include "tests/temporary.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char home[96];
/* A failed test leaves its objects behind: the next one is not to blame. */
static uint64_t errors_before, live_before[VK_OBJECT_TYPE_COMMAND_POOL + 1];

static void link_manifest(const char *kind)
{
    char folder[160], link[224], target[512];
    snprintf(folder, sizeof(folder), "%s/vulkan", home);
    mkdir(folder, 0700);
    snprintf(folder, sizeof(folder), "%s/vulkan/%s_layer.d", home, kind);
    mkdir(folder, 0700);
    snprintf(link, sizeof(link), "%s/VkLayer_piecemeal.json", folder);
    snprintf(target, sizeof(target), PM_BUILD "/share/vulkan/%s_layer.d/VkLayer_piecemeal.json",
             kind);
    if (symlink(target, link) != 0)
        abort();
}

/* Settings of an earlier test, or of whoever runs the tests. */
static void unset_all(const char *prefix)
{
    size_t length = strlen(prefix);
    for (char **at = environ; *at;) {
        if (strncmp(*at, prefix, length) != 0) {
            at++;
            continue;
        }
        char name[128];
        snprintf(name, sizeof(name), "%.*s", (int)(strchr(*at, '=') - *at), *at);
        unsetenv(name);
        at = environ;
    }
}

int pm_layered_set_up(void **state)
{
    char log[160];
    (void)state;
    temporary_make(home, sizeof(home));
    link_manifest("implicit");
    link_manifest("explicit");
    pm_harness_environment();
    unset_all("PIECEMEAL_");
    unset_all("PM_NULL_");
    setenv("XDG_DATA_HOME", home, 1);
    setenv("XDG_DATA_DIRS", "/nonexistent", 1); /* a Piecemeal that is installed is another one */
    setenv("XDG_CONFIG_HOME", home, 1);
    setenv("XDG_CACHE_HOME", home, 1);
    snprintf(log, sizeof(log), "%s/log", home);
    setenv("PIECEMEAL_LOG_FILE", log, 1);
    setenv("PIECEMEAL_LOG_LEVEL", "debug", 1);
    setenv("PIECEMEAL_SAMPLER_SEED", "1", 1);
    setenv("PIECEMEAL_LIMITS_BACKGROUND_SHARE", "1", 1);
    setenv("PIECEMEAL_OPTIMIZE_AGREEING_SESSIONS", "1", 1);
    const struct pm_null_api *driver = pm_harness_driver();
    errors_before = driver->errors(NULL);
    for (uint32_t type = 1; type <= VK_OBJECT_TYPE_COMMAND_POOL; type++)
        live_before[type] = driver->live((VkObjectType)type);
    return 0;
}

int pm_layered_tear_down(void **state)
{
    (void)state;
    const struct pm_null_api *driver = pm_harness_driver();
    const char *last;
    int failures = 0;
    driver->inject("");
    driver->set_callback(NULL, NULL);
    if (driver->errors(&last) != errors_before) {
        print_error("the driver noticed: %s\n", last);
        failures++;
    }
    for (uint32_t type = 1; type <= VK_OBJECT_TYPE_COMMAND_POOL; type++) {
        uint64_t left = driver->live((VkObjectType)type) - live_before[type];
        if (left != 0) {
            print_error("%lu objects of type %u are left\n", (unsigned long)left, type);
            failures++;
        }
    }
    temporary_remove(home);
    return failures;
}

void pm_layered_enable(enum pm_layered how)
{
    /* The loader puts implicit layers above all that are asked for. */
    if (how == PM_LAYER_IMPLICIT && pm_harness_is_validated())
        how = PM_LAYER_EXPLICIT;
    if (how == PM_LAYER_IMPLICIT || how == PM_LAYER_BOTH)
        setenv("PIECEMEAL_ENABLE", "1", 1);
    else
        unsetenv("PIECEMEAL_ENABLE");
    const bool asked = how == PM_LAYER_EXPLICIT || how == PM_LAYER_BOTH;
    pm_harness_layer(asked ? "VK_LAYER_PIECEMEAL_cooperative_pgo" : NULL);
}

long pm_layered_measure(long (*measure)(enum pm_layered how), enum pm_layered how)
{
    int ends[2], status;
    long result = -1;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        pm_layered_enable(how);
        setenv("PM_NULL_RECORD", "0", 1);
        result = measure(how);
        _exit(write(ends[1], &result, sizeof result) != (ssize_t)sizeof result);
    }
    assert_true(child > 0);
    close(ends[1]);
    assert_int_equal(read(ends[0], &result, sizeof result), (ssize_t)sizeof result);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return result;
}

void pm_layered_sample_all(const char *probability)
{
    setenv("PIECEMEAL_SAMPLER_WINDOW_PROBABILITY", "1", 1);
    setenv("PIECEMEAL_SAMPLER_API_PROBABILITY", probability, 1);
    setenv("PIECEMEAL_DEBUG_SYNCHRONOUS", "true", 1);
}

const char *pm_layered_home(void)
{
    return home;
}

uint32_t pm_layered_logged(const char *text)
{
    char path[200], line[1024];
    snprintf(path, sizeof(path), "%s/log", pm_layered_home());
    FILE *file = fopen(path, "r");
    uint32_t count = 0;
    while (file && fgets(line, sizeof(line), file))
        count += strstr(line, text) != NULL;
    if (file)
        fclose(file);
    return count;
}

char *pm_calls_on(const struct pm_null_api *driver, uint64_t since, const void *handle)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    struct pm_null_call call;
    for (; driver->read(since, &call); since++) {
        if (call.arguments[0] == (uint64_t)(uintptr_t)handle)
            fprintf(file, "%s ", call.command);
    }
    fclose(file);
    return text;
}

uint32_t pm_calls_of(const struct pm_null_api *driver, uint64_t since, const char *command)
{
    uint32_t count = 0;
    struct pm_null_call call;
    for (; driver->read(since, &call); since++)
        count += strcmp(call.command, command) == 0;
    return count;
}

struct pm_null_call pm_call(const struct pm_null_api *driver, uint64_t since, const char *command,
                            uint32_t n)
{
    struct pm_null_call call;
    for (; driver->read(since, &call); since++) {
        if (strcmp(call.command, command) == 0 && n-- == 0)
            return call;
    }
    fail_msg("%s was not called often enough", command);
    return call;
}

/* ---- the game's allocator ---- */

static VKAPI_ATTR void *VKAPI_CALL allocate(void *user, size_t size, size_t alignment,
                                            VkSystemAllocationScope scope)
{
    (void)user;
    (void)scope;
    void *memory = NULL;
    return posix_memalign(&memory, alignment < 8 ? 8 : alignment, size) == 0 ? memory : NULL;
}

static VKAPI_ATTR void *VKAPI_CALL reallocate(void *user, void *old, size_t size, size_t alignment,
                                              VkSystemAllocationScope scope)
{
    (void)user;
    (void)alignment;
    (void)scope;
    return realloc(old, size);
}

static VKAPI_ATTR void VKAPI_CALL release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

const VkAllocationCallbacks pm_layered_allocator = {
    .pfnAllocation = allocate, .pfnReallocation = reallocate, .pfnFree = release};
