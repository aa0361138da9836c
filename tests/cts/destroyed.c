/* What was used is destroyed in any order, and what is left is used on as long as it can be. */
#include "tests/cts/special.h"

#include <string.h>

enum part { PIPELINE, MODULE, POOL, LAYOUT, TARGET, LIBRARIES, PARTS };

const char *const cts_destroyed_names[CTS_DESTROYED] = {"graphics", "compute", "linked"};

static struct cts cts;
static VkPipeline pipeline;
static VkCommandPool pool;
static bool gone[PARTS];

static void destroy_part(enum part part)
{
    VkDevice device = cts.gpu.device;
    gone[part] = true;
    switch (part) {
    case PIPELINE:
        vkDestroyPipeline(device, pipeline, NULL);
        break;
    case MODULE:
        vkDestroyShaderModule(device, cts.module, NULL);
        cts.module = VK_NULL_HANDLE;
        break;
    case POOL:
        vkDestroyCommandPool(device, pool, NULL);
        break;
    case LAYOUT:
        vkDestroyPipelineLayout(device, cts.gpu.layout, NULL);
        vkDestroyDescriptorSetLayout(device, cts.gpu.set_layout, NULL);
        cts.gpu.layout = cts.layouts[0] = VK_NULL_HANDLE;
        cts.gpu.set_layout = VK_NULL_HANDLE;
        break;
    case TARGET:
        cts_target_destroy(&cts);
        memset(&cts.target, 0, sizeof cts.target);
        break;
    default:
        for (uint32_t i = 0; i < cts.library_count; i++)
            vkDestroyPipeline(device, cts.libraries[i], NULL);
        cts.library_count = 0;
        break;
    }
}

/* Whether what was recorded may be submitted again. Drivers read layouts when they run what was
 * recorded with them, and lavapipe reads libraries. */
static bool is_usable(void)
{
    for (int part = 0; part < PARTS; part++) {
        if (part != MODULE && gone[part])
            return false;
    }
    return true;
}

void cts_run_destruction(enum cts_destroyed what, uint32_t n)
{
    static const uint32_t counts[CTS_DESTROYED] = {LIBRARIES, TARGET, PARTS};
    const uint32_t count = counts[what];
    const bool of_compute = what == CTS_DESTROYED_COMPUTE;
    struct cts_case of = of_compute ? cts_special_compute : cts_special_graphics;
    enum part left[PARTS];
    uint32_t orders = 1;
    for (uint32_t i = 0; i < count; i++) {
        left[i] = (enum part)i;
        orders *= i + 1;
    }
    cts_open(&cts, &of);
    const uint64_t wanted = cts_plainly(&cts, &of);
    if (what == CTS_DESTROYED_LINKED)
        of.make = CTS_LINKED;
    pipeline = cts_make_pipeline(&cts, &of);
    pool = cts_make_pool(&cts);
    VkCommandBuffer commands = cts_allocate(&cts, pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    cts_record(&cts, &of, pipeline, commands);
    cts_expect(cts_submit(&cts, &of, commands), wanted, "it");
    uint32_t order = n * 29 % orders; /* far apart: 29 divides none */
    for (uint32_t some = count; some > 0; some--) {
        const uint32_t at = order % some;
        order /= some;
        destroy_part(left[at]);
        left[at] = left[some - 1];
        if (is_usable())
            cts_expect(cts_submit(&cts, &of, commands), wanted, "what is left");
    }
    cts_close(&cts, &of);
    cts_pass(wanted);
}
