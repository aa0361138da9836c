#include "dispatch.h"
#include "draw_commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* A driver of 1.0 with one extension: its commands, by name; each has an address of its own. */
static const char *const names[] = {"vkCmdDraw",         "vkQueueSubmit",
                                    "vkQueueSubmit2KHR", "vkCmdDrawIndirectCountAMD",
                                    "vkCmdSetCullMode",  "vkCmdSetCullModeEXT"};
static char addresses[sizeof(names) / sizeof(names[0])];

static PFN_vkVoidFunction address(const char *name)
{
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(names[i], name) == 0)
            return (PFN_vkVoidFunction)(uintptr_t)&addresses[i];
    }
    return NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_address(VkDevice device, const char *name)
{
    assert_true((uintptr_t)device == 17);
    return address(name);
}

static void aliases_fill_core_members(void **state)
{
    (void)state;
    struct pm_device_dispatch table;
    pm_device_dispatch_load(&table, (VkDevice)(uintptr_t)17, device_address);
    assert_true(table.GetDeviceProcAddr == device_address);
    assert_true((uintptr_t)table.CmdDraw == (uintptr_t)&addresses[0]);
    assert_true((uintptr_t)table.QueueSubmit2 == (uintptr_t)&addresses[2]);
    assert_true((uintptr_t)table.QueueSubmit2KHR == (uintptr_t)&addresses[2]);
    assert_true((uintptr_t)table.CmdDrawIndirectCount == (uintptr_t)&addresses[3]);
    assert_true((uintptr_t)table.CmdDrawIndirectCountAMD == (uintptr_t)&addresses[3]);
    assert_null(table.CmdDrawIndirectCountKHR);
    assert_true((uintptr_t)table.CmdSetCullMode == (uintptr_t)&addresses[4]);
    assert_true((uintptr_t)table.CmdSetCullModeEXT == (uintptr_t)&addresses[5]);
    assert_null(table.CmdDispatch);
}

/* The list has every command of the device that draws or dispatches but those that are never
 * sampled. */
static void draws_are_listed_with_their_aliases(void **state)
{
    (void)state;
    const char *const expected[] = {
        "CmdDraw/GRAPHICS",
        "CmdDrawIndexed/GRAPHICS",
        "CmdDrawIndirect/GRAPHICS",
        "CmdDrawIndexedIndirect/GRAPHICS",
        "CmdDrawIndirectCount/GRAPHICS",
        "CmdDrawIndirectCountKHR/GRAPHICS",
        "CmdDrawIndirectCountAMD/GRAPHICS",
        "CmdDrawIndexedIndirectCount/GRAPHICS",
        "CmdDrawIndexedIndirectCountKHR/GRAPHICS",
        "CmdDrawIndexedIndirectCountAMD/GRAPHICS",
        "CmdDrawIndirectByteCountEXT/GRAPHICS",
        "CmdDrawMultiEXT/GRAPHICS",
        "CmdDrawMultiIndexedEXT/GRAPHICS",
        "CmdDrawMeshTasksEXT/GRAPHICS",
        "CmdDrawMeshTasksIndirectEXT/GRAPHICS",
        "CmdDrawMeshTasksIndirectCountEXT/GRAPHICS",
        "CmdDrawMeshTasksNV/GRAPHICS",
        "CmdDrawMeshTasksIndirectNV/GRAPHICS",
        "CmdDrawMeshTasksIndirectCountNV/GRAPHICS",
        "CmdDispatch/COMPUTE",
        "CmdDispatchIndirect/COMPUTE",
        "CmdDispatchBase/COMPUTE",
        "CmdDispatchBaseKHR/COMPUTE",
    };
    const char *const listed[] = {
#define X(name, canonical, bind_point, parameters, arguments, groups) #name "/" #bind_point,
        PM_DRAW_COMMANDS(X)
#undef X
    };
    assert_int_equal(sizeof(listed) / sizeof(listed[0]), PM_DRAW_COMMAND_COUNT);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        bool found = false;
        for (size_t j = 0; j < PM_DRAW_COMMAND_COUNT; j++)
            found |= strcmp(expected[i], listed[j]) == 0;
        if (!found)
            fail_msg("%s is missing", expected[i]);
    }
    for (size_t j = 0; j < PM_DRAW_COMMAND_COUNT; j++)
        assert_null(strstr(listed[j], "Generated"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aliases_fill_core_members),
        cmocka_unit_test(draws_are_listed_with_their_aliases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
