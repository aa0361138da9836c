/* The layer without one of libm's functions: it is left out, and calls none. */
#include "tests/cmocka_includes.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <vulkan/vk_layer.h>

static const char *missing;
static bool asked;

/* The program's own, which the layer's calls are bound to. */
__attribute__((visibility("default"))) void *dlsym(void *handle, const char *name)
{
    static void *(*next)(void *handle, const char *name);
    if (next == NULL)
        *(void **)&next = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    asked = asked || strcmp(name, "log") == 0;
    return missing != NULL && strcmp(name, missing) == 0 ? NULL : next(handle, name);
}

/* What the loader hears. */
static VkResult loaded_without(const char *name)
{
    missing = name;
    asked = false;
    void *layer = dlopen(LAYER, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(layer);
    assert_true(asked);
    VkNegotiateLayerInterface interface = {.sType = LAYER_NEGOTIATE_INTERFACE_STRUCT,
                                           .loaderLayerInterfaceVersion = 2};
    PFN_vkNegotiateLoaderLayerInterfaceVersion negotiate;
    *(void **)&negotiate = dlsym(layer, "vkNegotiateLoaderLayerInterfaceVersion");
    const VkResult result = negotiate(&interface);
    dlclose(layer);
    return result;
}

static void a_layer_without_one_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(loaded_without("atan2"), VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(loaded_without("log1p"), VK_ERROR_INITIALIZATION_FAILED);
    assert_int_equal(loaded_without(NULL), VK_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_layer_without_one_is_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
