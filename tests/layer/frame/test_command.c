/* How a recording begins (layer/frame/command.h). */
#include "layer/frame/command.h"

#include "tests/cmocka_includes.h"

static bool begins_again(bool was_simultaneous, VkCommandBufferUsageFlags flags)
{
    static struct pm_command command;
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = flags};
    command = (struct pm_command){.begun = true, .simultaneous = was_simultaneous};
    return pm_command_begin_again(&command, &info);
}

/* The short way leaves alone what the recording before it was. */
static void the_short_way_knows_simultaneous_use(void **unused)
{
    (void)unused;
    const VkCommandBufferUsageFlags once = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
                                    simultaneous = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    assert_true(begins_again(false, once));
    assert_false(begins_again(true, once));
    assert_false(begins_again(false, simultaneous));
    assert_false(begins_again(true, once | simultaneous));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_short_way_knows_simultaneous_use)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
