/* What a game allocates with. */
#include "tests/cts/cts.h"

#include <stdatomic.h>
#include <stdlib.h>

_Atomic int64_t cts_allocations, cts_fail_at, cts_live;
_Atomic bool cts_fails_on;

static bool fails(void)
{
    const int64_t at = atomic_load(&cts_fail_at), now = atomic_fetch_add(&cts_allocations, 1) + 1;
    return at != 0 && (now == at || (now > at && atomic_load(&cts_fails_on)));
}

static VKAPI_ATTR void *VKAPI_CALL allocate(void *user, size_t size, size_t alignment,
                                            VkSystemAllocationScope scope)
{
    (void)user, (void)scope;
    void *memory = NULL;
    if (fails() || posix_memalign(&memory, alignment < 16 ? 16 : alignment, size) != 0)
        return NULL;
    atomic_fetch_add(&cts_live, 1);
    return memory;
}

static VKAPI_ATTR void VKAPI_CALL release(void *user, void *memory)
{
    (void)user;
    if (memory)
        atomic_fetch_sub(&cts_live, 1);
    free(memory);
}

static VKAPI_ATTR void *VKAPI_CALL reallocate(void *user, void *old, size_t size, size_t alignment,
                                              VkSystemAllocationScope scope)
{
    if (!old)
        return allocate(user, size, alignment, scope);
    if (size == 0) {
        release(user, old);
        return NULL;
    }
    return fails() ? NULL : realloc(old, size);
}

const VkAllocationCallbacks cts_allocator = {
    .pfnAllocation = allocate, .pfnReallocation = reallocate, .pfnFree = release};
