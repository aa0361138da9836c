#include "layer/hooks/caller.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

/* How their libraries' names begin. Layers that make no pipelines are none, as OBS' vkcapture and
 * gamescope's for the games in it. */
static const char *const overlays[] = {
    "libMangoHud", "libVkLayer_MESA_overlay", "liblsfg-vk", "libvkbasalt",
    "libvkshade.", "steamoverlayvulkanlayer", NULL};

struct search {
    uintptr_t address;
    bool is_overlay;
};

static bool is_in(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= start && address - start < segment->p_memsz)
            return true;
    }
    return false;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *user)
{
    struct search *search = user;
    (void)size;
    if (!is_in(object, search->address))
        return 0;
    const char *slash = strrchr(object->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : object->dlpi_name;
    for (const char *const *overlay = overlays; *overlay != NULL; overlay++)
        search->is_overlay |= strncmp(name, *overlay, strlen(*overlay)) == 0;
    return 1;
}

bool pm_caller_is_overlay(const void *address)
{
    struct search search = {.address = (uintptr_t)address};
    dl_iterate_phdr(look_at, &search);
    return search.is_overlay;
}
