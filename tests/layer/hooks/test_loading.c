/* How the layer comes into a process, how often, and how it goes (HAZARDS 18, 19). */
#include "base/log.h"
#include "tests/layer/layered.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIBRARY PM_BUILD "/layer/libVkLayer_piecemeal.so"

static struct pm_harness h;

static bool is_loaded(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
    if (library)
        dlclose(library);
    return library != NULL;
}

/* Binds that the driver sees for one dispatch: 1 without the layer, 3 with it, 5 if it were there
 * twice. */
static uint32_t binds_of_a_dispatch(struct pm_harness *harness)
{
    VkCommandBuffer buffer = pm_harness_allocate(harness, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    uint64_t position = harness->driver->position();
    pm_harness_begin(harness, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    harness->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, harness->dispatch);
    harness->vk.CmdDispatch(buffer, 1, 1, 1);
    PM_CHECK(harness->vk.EndCommandBuffer(buffer));
    uint32_t binds = pm_calls_of(harness->driver, position, "vkCmdBindPipeline");
    harness->vk.FreeCommandBuffers(harness->device, harness->pool, 1, &buffer);
    return binds;
}

static void either_way_and_once(void **state)
{
    (void)state;
    const struct {
        enum pm_layered how;
        uint32_t binds;
    } cases[] = {
        {PM_LAYER_OFF, 1}, {PM_LAYER_IMPLICIT, 3}, {PM_LAYER_EXPLICIT, 3}, {PM_LAYER_BOTH, 3}};
    pm_layered_sample_all("1");
    for (size_t i = 0; i < 4; i++) {
        pm_layered_enable(cases[i].how);
        pm_harness_open(&h, NULL);
        assert_int_equal(is_loaded(), cases[i].how != PM_LAYER_OFF);
        assert_int_equal(binds_of_a_dispatch(&h), cases[i].binds);
        pm_harness_close(&h);
    }
}

/* By the game itself, through VkInstanceCreateInfo. */
static void asked_for_by_the_program(void **state)
{
    (void)state;
    const char *const layers[] = {"VK_LAYER_PIECEMEAL_cooperative_pgo", NULL};
    const struct pm_harness_options options = {.layers = layers};
    pm_layered_enable(PM_LAYER_OFF);
    pm_layered_sample_all("1");
    pm_harness_open(&h, &options);
    assert_int_equal(binds_of_a_dispatch(&h), 3);
    pm_harness_close(&h);
}

static void the_switches_are_exact(void **state)
{
    (void)state;
    pm_layered_sample_all("1");
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_ENABLE", "2", 1);
    pm_harness_open(&h, NULL);
    assert_int_equal(binds_of_a_dispatch(&h), 1);
    pm_harness_close(&h);
    pm_layered_enable(PM_LAYER_IMPLICIT);
    setenv("PIECEMEAL_DISABLE", "0", 1);
    pm_harness_open(&h, NULL);
    assert_int_equal(binds_of_a_dispatch(&h), 1);
    pm_harness_close(&h);
}

/* The loader unloads the library with the last instance and loads it with the next. */
static void unloaded_and_loaded_again(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    for (int i = 0; i < 10; i++) {
        pm_harness_open(&h, NULL);
        assert_true(is_loaded());
        assert_int_equal(binds_of_a_dispatch(&h), 3);
        pm_harness_close(&h);
        assert_false(is_loaded());
    }
}

/* Any commands reach their own device, sampled or not, whichever way the draw hooks know it by. */
static void several_devices(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    struct pm_harness devices[3];
    for (int i = 0; i < 3; i++) {
        pm_harness_open(&devices[i], NULL);
        for (int j = 0; j <= i; j++)
            assert_int_equal(binds_of_a_dispatch(&devices[j]), 3);
    }
    /* Two devices of one instance, of which one samples nothing. */
    struct pm_harness second = devices[0];
    setenv("PM_NULL_FAIL", "", 1);
    const struct pm_harness_options options = {0};
    PM_CHECK(pm_harness_create_device(&second, &options));
    pm_harness_open_rest(&second);
    assert_int_equal(binds_of_a_dispatch(&second), 3);
    assert_int_equal(binds_of_a_dispatch(&devices[0]), 3);
    pm_harness_close_device(&second);
    for (int i = 0; i < 3; i++) {
        pm_harness_close(&devices[i]);
        for (int j = i + 1; j < 3; j++)
            assert_int_equal(binds_of_a_dispatch(&devices[j]), 3);
    }
}

/* A game that ends its instance and leaves its device: nothing of ours may run on in an unloaded
 * library. */
static void a_device_is_left_behind(void **state)
{
    (void)state;
    int status;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        pm_harness_open(&h, NULL);
        binds_of_a_dispatch(&h);
        h.vki.DestroyInstance(h.instance, NULL);
        usleep(100000);
        _exit(is_loaded() ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A child of a fork, with the parent's Vulkan, may only end or start something else; and both must
 * work. */
static void a_fork(void **state)
{
    (void)state;
    int status;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_DEBUG_CHECKPOINT_HEARTBEATS", "1", 1);
    pm_harness_open(&h, NULL);
    assert_int_equal(binds_of_a_dispatch(&h), 3);
    for (int how = 0; how < 3; how++) {
        VkCommandBuffer buffer = pm_harness_allocate(&h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
        pm_harness_begin(&h, buffer, 0);
        h.vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, h.dispatch);
        h.vk.CmdDispatch(buffer, 1, 1, 1);
        PM_CHECK(h.vk.EndCommandBuffer(buffer));
        pm_harness_submit(&h, h.queue, buffer, VK_NULL_HANDLE);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(60);
            if (how == 0)
                _exit(0);
#ifndef __SANITIZE_ADDRESS__
            /* The destructors of every library run. The leak checker would too, and take for lost
             * what only the parent's threads know of. */
            if (how == 1)
                exit(0);
#endif
            h.vk.DestroyDevice(h.device, NULL);
            h.vki.DestroyInstance(h.instance, NULL);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail_msg("child %d ended with status %x", how, status);
        assert_int_equal(binds_of_a_dispatch(&h), 3);
    }
    pm_harness_close(&h);
}

/* The library takes part in a process: no variables of the environment, no signal handlers, no
 * output. */
static void nothing_is_left_in_the_process(void **state)
{
    (void)state;
    extern char **environ;
    char before[1 << 14] = "", after[1 << 14] = "";
    int output[2];
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_LOG_FILE", "", 1);
    for (char **at = environ; *at; at++)
        strncat(before, *at, sizeof(before) - strlen(before) - 1);
    assert_int_equal(pipe(output), 0);
    int saved[2] = {dup(1), dup(2)};
    dup2(output[1], 1);
    dup2(output[1], 2);
    pm_harness_open(&h, NULL);
    uint32_t binds = binds_of_a_dispatch(&h);
    pm_harness_close(&h);
    dup2(saved[0], 1);
    dup2(saved[1], 2);
    close(saved[0]);
    close(saved[1]);
    close(output[1]);
    char text[256];
    ssize_t size = read(output[0], text, sizeof(text) - 1);
    close(output[0]);
    text[size > 0 ? size : 0] = '\0';
    assert_int_equal(binds, 3);
    assert_string_equal(text, "");
    for (char **at = environ; *at; at++)
        strncat(after, *at, sizeof(after) - strlen(after) - 1);
    assert_string_equal(before, after);
}

/* What the layer writes to a file whose descriptor PIECEMEAL_LOG_FD names, in bytes; other: the
 * number is by then another file's. */
static off_t bytes_logged(bool other)
{
    char path[160], text[64];
    snprintf(path, sizeof(path), "%s/descriptor", pm_layered_home());
    FILE *named = fopen(path, "w+");
    assert_non_null(named);
    assert_true(pm_log_descriptor_format(fileno(named), text, sizeof(text)));
    setenv("PIECEMEAL_LOG_FD", text, 1);
    snprintf(path, sizeof(path), "%s/of_the_game", pm_layered_home());
    FILE *game = fopen(path, "w+");
    assert_non_null(game);
    if (other)
        assert_int_equal(dup2(fileno(game), fileno(named)), fileno(named));
    pm_harness_open(&h, NULL);
    assert_int_equal(binds_of_a_dispatch(&h), 3);
    pm_harness_close(&h);
    struct stat status;
    assert_int_equal(fstat(fileno(named), &status), 0);
    fclose(game);
    fclose(named);
    return status.st_size;
}

/* Launchers close descriptors that they do not know, and the game gets the number for a file or
 * socket of its own. */
static void a_descriptor_that_is_another_file_now(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    setenv("PIECEMEAL_LOG_FILE", "", 1);
    assert_true(bytes_logged(false) > 0);
    assert_int_equal(bytes_logged(true), 0);
    unsetenv("PIECEMEAL_LOG_FD");
}

/* ---- who is left alone ---- */

static uint32_t binds_with_engine(const char *engine)
{
    const struct pm_harness_options options = {.application = "a game", .engine = engine};
    pm_harness_open(&h, &options);
    assert_true(is_loaded());
    const uint32_t binds = binds_of_a_dispatch(&h);
    pm_harness_close(&h);
    return binds;
}

/* Nothing is sampled, and nothing is said or written. */
static void an_engine_is_left_alone(void **state)
{
    (void)state;
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    assert_int_equal(binds_with_engine("ANGLE"), 1);
    assert_int_equal(binds_with_engine("angle"), 1);
    assert_int_equal(pm_layered_logged(""), 0);
    assert_int_equal(binds_with_engine("ANGLE of attack"), 3);
    assert_int_equal(binds_with_engine(NULL), 3);
    assert_true(pm_layered_logged("") > 0);
}

/* Chromium inside of another program. */
static void what_maps_cef_is_left_alone(void **state)
{
    (void)state;
    static const char *const names[] = {"libcef.so", "libcefs.so"};
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    for (int i = 0; i < 2; i++) {
        char path[160];
        snprintf(path, sizeof(path), "%s/%s", pm_layered_home(), names[i]);
        FILE *file = fopen(path, "w+");
        assert_non_null(file);
        assert_true(fputs("an ELF file", file) >= 0);
        fflush(file);
        void *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fileno(file), 0);
        assert_ptr_not_equal(mapped, MAP_FAILED);
        assert_int_equal(binds_with_engine(NULL), i == 0 ? 1 : 3);
        munmap(mapped, 4096);
        fclose(file);
    }
}

/* What this program is asked for as another process: its status. */
static const char binds_asked[] = "binds-of-a-dispatch";

/* The binds in a process of that name, with one more argument. */
static int binds_of_process(const char *name, const char *argument)
{
    char path[200], command[300];
    int status;
    snprintf(path, sizeof(path), "%s/%s", pm_layered_home(), name);
    snprintf(command, sizeof(command), "cp -f \"/proc/%d/exe\" \"%s\"", getpid(), path);
    assert_int_equal(system(command), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl(path, path, binds_asked, argument, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void processes_are_left_alone(void **state)
{
    (void)state;
    static const struct {
        const char *name, *argument;
        int binds;
    } cases[] = {
        {"chrome.exe", "", 1},
        {"CHROME", "", 1},
        {"steamwebhelper.exe", "", 1},
        {"gamescope", "", 1},
        {"game.exe", "--type=renderer", 1},
        {"game.exe", "--typed=renderer", 3},
        {"chrome.exe.bak", "", 3},
    };
    pm_layered_enable(PM_LAYER_IMPLICIT);
    pm_layered_sample_all("1");
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const int binds = binds_of_process(cases[i].name, cases[i].argument);
        if (binds != cases[i].binds)
            fail_msg("%s %s: %d binds", cases[i].name, cases[i].argument, binds);
        assert_int_equal(pm_layered_logged("") > 0, cases[i].binds > 1);
    }
}

static int tell_binds(void)
{
    pm_harness_open(&h, NULL);
    const uint32_t binds = is_loaded() ? binds_of_a_dispatch(&h) : 0;
    pm_harness_close(&h);
    return (int)binds;
}

int main(int count, char **arguments)
{
    if (count > 1 && strcmp(arguments[1], binds_asked) == 0)
        return tell_binds();
    const struct CMUnitTest tests[] = {
        PM_LAYERED_TEST(either_way_and_once),
        PM_LAYERED_TEST(asked_for_by_the_program),
        PM_LAYERED_TEST(the_switches_are_exact),
        PM_LAYERED_TEST(unloaded_and_loaded_again),
        PM_LAYERED_TEST(several_devices),
        PM_LAYERED_TEST(a_device_is_left_behind),
        PM_LAYERED_TEST(a_fork),
        PM_LAYERED_TEST(nothing_is_left_in_the_process),
        PM_LAYERED_TEST(a_descriptor_that_is_another_file_now),
        PM_LAYERED_TEST(an_engine_is_left_alone),
        PM_LAYERED_TEST(what_maps_cef_is_left_alone),
        PM_LAYERED_TEST(processes_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
