/* Several devices at once: of an instance each, of one, and on several threads. */
#include "tests/cts/special.h"

#include <pthread.h>

enum { MOST = 8 };

static struct cts many[MOST];

static const struct cts_case *case_of(uint32_t i)
{
    return i % 2 ? &cts_special_compute : &cts_special_graphics;
}

void cts_run_devices(uint32_t count, bool of_one, bool backwards)
{
    uint64_t wanted[2] = {0};
    VkInstance instance = of_one ? cts_make_instance() : VK_NULL_HANDLE;
    for (uint32_t i = 0; i < count; i++)
        cts_open_of(&many[i], case_of(i), instance);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < count; i++) {
            const uint64_t hash = cts_plainly(&many[i], case_of(i));
            if (round == 0 && i < 2)
                wanted[i] = hash;
            cts_expect(hash, wanted[i % 2], "another device");
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = backwards ? count - 1 - i : i;
        cts_close(&many[at], case_of(at));
        /* Those that are left are as before. */
        const uint32_t next = backwards ? 0 : count - 1;
        if (i + 1 < count)
            cts_expect(cts_plainly(&many[next], case_of(next)), wanted[next % 2],
                       "a device that is left");
    }
    if (of_one)
        vkDestroyInstance(instance, NULL);
    cts_pass(cts_hash(CTS_HASH, wanted, sizeof wanted));
}

/* ---- on threads ---- */

struct worker {
    pthread_t thread;
    VkInstance instance;
    uint32_t number;
    uint64_t wanted;
};

static void *work(void *user)
{
    const struct worker *worker = user;
    struct cts *cts = &many[worker->number];
    const struct cts_case *of = case_of(worker->number);
    for (int round = 0; round < 2; round++) {
        cts_open_of(cts, of, worker->instance);
        cts_expect(cts_plainly(cts, of), worker->wanted, "a device of another thread");
        cts_close(cts, of);
    }
    return NULL;
}

void cts_run_device_threads(uint32_t count)
{
    static struct worker workers[MOST];
    uint64_t wanted[2];
    VkInstance instance = cts_make_instance();
    for (uint32_t i = 0; i < 2; i++) {
        cts_open_of(&many[i], case_of(i), instance);
        wanted[i] = cts_plainly(&many[i], case_of(i));
        cts_close(&many[i], case_of(i));
    }
    for (uint32_t i = 0; i < count; i++) {
        workers[i] = (struct worker){.instance = instance, .number = i, .wanted = wanted[i % 2]};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    vkDestroyInstance(instance, NULL);
    cts_pass(cts_hash(CTS_HASH, wanted, sizeof wanted));
}
