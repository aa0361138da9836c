/*
 * The end of the library, whichever comes first: the loader unloads it when the last instance is
 * gone, or the game's process exits (HAZARDS 18). A game may exit with its device alive, while a
 * compile thread is inside SPIRV-Tools, whose static objects must not be destroyed under it. So
 * destructors of static objects are kept here instead of being handed to the C library, and run
 * only when nothing of ours is left; else the process ends without them.
 *
 * Some programs also use Vulkan from their own exit handlers (OpenGL drivers on Vulkan tear their
 * contexts down there). Static objects of layers that were loaded later are destroyed by then, and
 * a call that the game itself does not make may meet one (seen: the validation layer searched a
 * destroyed map for ever). So from the first exit handler on, the layer makes no calls of its own
 * but those that destroy what it made. The first is the one that was registered last: the layer
 * registers its own anew now and then, since a layer may make a static object, and the game
 * register a handler, long after the device was created (seen: both).
 */
#include "layer/hooks/unload.h"

#include "layer/core/process_exit.h"
#include "layer/hooks/registry.h"
#include <dlfcn.h>
#include <stdlib.h>

static void note_exit(void *unused)
{
    (void)unused;
    pm_process_set_exiting(true);
    pm_registry_exit();
}

void pm_process_watch_exit(void)
{
    pm_process_set_exiting(false);
    pm_process_watch_exit_again();
}

void pm_process_watch_exit_again(void)
{
    extern void *__dso_handle __attribute__((visibility("hidden")));
    int (*at_exit)(void (*)(void *), void *, void *) = NULL;
    /* The C library's: the name here is taken, see below. It forgets the handler when the library
     * is unloaded. */
    *(void **)&at_exit = dlsym(RTLD_NEXT, "__cxa_atexit");
    if (at_exit != NULL)
        at_exit(note_exit, NULL, &__dso_handle);
}

struct exit_function {
    struct exit_function *next;
    void (*function)(void *argument);
    void *argument;
};

static _Atomic(struct exit_function *) exit_functions;

/* What the compiler calls for a static object of C++ (Itanium C++ ABI, 3.3.6.3); hidden, so for
 * those of this library only. */
int __cxa_atexit(void (*function)(void *argument), void *argument, void *library)
{
    (void)library;
    struct exit_function *entry = malloc(sizeof *entry);
    if (!entry)
        return -1;
    entry->function = function;
    entry->argument = argument;
    entry->next = atomic_load(&exit_functions);
    while (!atomic_compare_exchange_weak(&exit_functions, &entry->next, entry))
        ;
    return 0;
}

/* Frees libstdc++'s emergency memory for exceptions, which a statically linked copy allocates anew
 * each time it is loaded. */
extern void free_cxx_runtime(void) __asm__("_ZN9__gnu_cxx9__freeresEv") __attribute__((weak));

__attribute__((destructor)) static void unload(void)
{
    if (!pm_registry_is_empty())
        return;
    struct exit_function *entry = atomic_exchange(&exit_functions, NULL);
    while (entry) {
        struct exit_function *next = entry->next;
        entry->function(entry->argument);
        free(entry);
        entry = next;
    }
    if (free_cxx_runtime)
        free_cxx_runtime();
}
