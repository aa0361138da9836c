#include "tests/null_driver/internal.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Written by the calling thread alone; atomic, since a reader may look while the ring goes round.
 */
struct slot {
    _Atomic uint64_t position; /* of the call it holds, plus 1; 0: being written */
    _Atomic uint32_t command, thread, count;
    _Atomic uint64_t arguments[PM_NULL_ARGUMENTS];
};

struct fault {
    _Atomic uint64_t remaining; /* calls until it fails, that one included; 0: never */
    bool stays;                 /* and all calls from there on */
    VkResult result;
};

static struct slot ring[PM_NULL_RING];
static _Atomic uint64_t next_position;
static _Atomic bool enabled = true;
static _Atomic(pm_null_callback) callback;
static void *_Atomic callback_user;
static struct fault faults[PM_NULL_COMMAND_COUNT];
static _Atomic bool any_fault;
static pthread_mutex_t error_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t error_count;
static char last_error[256];

static uint32_t thread_id(void)
{
    static _Thread_local uint32_t id;
    if (id == 0)
        id = (uint32_t)syscall(SYS_gettid);
    return id;
}

static void call_back(pm_null_callback function, enum pm_null_command command, uint32_t count,
                      const uint64_t *arguments)
{
    struct pm_null_call call = {
        .command = pm_null_entries[command].name, .thread = thread_id(), .count = count};
    memcpy(call.arguments, arguments, count * sizeof(*arguments));
    function(atomic_load(&callback_user), &call);
}

void pm_null_record(enum pm_null_command command, uint32_t count, const uint64_t *arguments)
{
    if (!atomic_load_explicit(&enabled, memory_order_relaxed))
        return;
    uint64_t position = atomic_fetch_add_explicit(&next_position, 1, memory_order_relaxed);
    struct slot *slot = &ring[position % PM_NULL_RING];
    atomic_store_explicit(&slot->position, 0, memory_order_relaxed);
    atomic_store_explicit(&slot->command, (uint32_t)command, memory_order_relaxed);
    atomic_store_explicit(&slot->thread, thread_id(), memory_order_relaxed);
    atomic_store_explicit(&slot->count, count, memory_order_relaxed);
    for (uint32_t i = 0; i < count; i++)
        atomic_store_explicit(&slot->arguments[i], arguments[i], memory_order_relaxed);
    atomic_store_explicit(&slot->position, position + 1, memory_order_release);
    pm_null_callback function = atomic_load_explicit(&callback, memory_order_acquire);
    if (function)
        call_back(function, command, count, arguments);
}

void pm_null_record_enable(bool enable)
{
    atomic_store(&enabled, enable);
}

static uint64_t position(void)
{
    return atomic_load(&next_position);
}

enum { MOST_WAITS = 100000 };

static bool read_call(uint64_t at, struct pm_null_call *out)
{
    struct slot *slot = &ring[at % PM_NULL_RING];
    /* What another thread has begun to write is not the end; in a forked child it may stay so. */
    for (int i = 0; i < MOST_WAITS && at < position() &&
                    atomic_load_explicit(&slot->position, memory_order_acquire) < at + 1;
         i++)
        sched_yield();
    if (atomic_load_explicit(&slot->position, memory_order_acquire) != at + 1)
        return false;
    *out = (struct pm_null_call){
        .command = pm_null_entries[atomic_load(&slot->command)].name,
        .thread = atomic_load(&slot->thread),
        .count = atomic_load(&slot->count),
    };
    for (uint32_t i = 0; i < out->count; i++)
        out->arguments[i] = atomic_load(&slot->arguments[i]);
    return atomic_load(&slot->position) == at + 1;
}

static void set_callback(pm_null_callback function, void *user)
{
    atomic_store(&callback_user, user);
    atomic_store(&callback, function);
}

/* ---- faults ---- */

static VkResult usual_failure(const char *command)
{
    if (strcmp(command, "vkCreateDevice") == 0)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    if (strncmp(command, "vkQueueSubmit", 13) == 0 || strncmp(command, "vkWait", 6) == 0 ||
        strstr(command, "WaitIdle"))
        return VK_ERROR_DEVICE_LOST;
    return VK_ERROR_OUT_OF_DEVICE_MEMORY;
}

static bool add_fault(char *text)
{
    char *colon = strchr(text, ':');
    if (!colon)
        return false;
    *colon = '\0';
    char *equals = strchr(colon + 1, '=');
    for (size_t i = 0; i < PM_NULL_COMMAND_COUNT; i++) {
        if (strcmp(pm_null_entries[i].name, text) != 0)
            continue;
        faults[i].result = equals ? (VkResult)strtol(equals + 1, NULL, 10) : usual_failure(text);
        char *end;
        const uint64_t remaining = strtoull(colon + 1, &end, 10);
        faults[i].stays = *end == '+';
        atomic_store(&faults[i].remaining, remaining);
        return true;
    }
    return false;
}

bool pm_null_fail(const char *text)
{
    for (size_t i = 0; i < PM_NULL_COMMAND_COUNT; i++)
        atomic_store(&faults[i].remaining, 0);
    char *copy = strdup(text), *rest = copy;
    bool good = copy != NULL, any = false;
    for (char *item; good && (item = strsep(&rest, ",")) != NULL;) {
        if (*item) {
            good = add_fault(item);
            any = true;
        }
    }
    free(copy);
    atomic_store(&any_fault, any);
    return good;
}

VkResult pm_null_failure(enum pm_null_command command)
{
    if (!atomic_load_explicit(&any_fault, memory_order_relaxed))
        return VK_SUCCESS;
    struct fault *fault = &faults[command];
    uint64_t remaining = atomic_load(&fault->remaining);
    while (remaining != 0) {
        if (remaining == 1 && fault->stays)
            return fault->result;
        if (atomic_compare_exchange_weak(&fault->remaining, &remaining, remaining - 1))
            return remaining == 1 ? fault->result : VK_SUCCESS;
    }
    return VK_SUCCESS;
}

/* ---- errors ---- */

void pm_null_error(const char *message)
{
    pthread_mutex_lock(&error_mutex);
    error_count++;
    snprintf(last_error, sizeof(last_error), "%s", message);
    pthread_mutex_unlock(&error_mutex);
}

static uint64_t errors(const char **last)
{
    pthread_mutex_lock(&error_mutex);
    uint64_t count = error_count;
    if (last)
        *last = count ? last_error : NULL;
    pthread_mutex_unlock(&error_mutex);
    return count;
}

static void set_delay(uint64_t microseconds)
{
    atomic_store(&pm_null_delay_us, microseconds);
}

_Atomic bool pm_null_submissions_held;
static _Atomic uint32_t compiles_held_by; /* a thread; 0: nobody */

static void hold_submissions(bool hold)
{
    atomic_store(&pm_null_submissions_held, hold);
}

static void hold_compiles(bool hold)
{
    atomic_store(&compiles_held_by, hold ? thread_id() : 0);
}

void pm_null_await_compile(void)
{
    for (uint32_t by; (by = atomic_load(&compiles_held_by)) != 0 && by != thread_id();)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static uint64_t executed_draws(void)
{
    return atomic_load(&pm_null_executed_draws);
}

__attribute__((visibility("default"))) const struct pm_null_api *pm_null_driver(void);

const struct pm_null_api *pm_null_driver(void)
{
    static const struct pm_null_api api = {
        .position = position,
        .read = read_call,
        .set_callback = set_callback,
        .inject = pm_null_fail,
        .set_delay = set_delay,
        .hold_submissions = hold_submissions,
        .hold_compiles = hold_compiles,
        .give_again = pm_null_give_again,
        .set_cost = pm_null_set_cost,
        .set_binned = pm_null_set_binned,
        .live = pm_null_object_live,
        .executed_draws = executed_draws,
        .errors = errors,
    };
    return &api;
}
