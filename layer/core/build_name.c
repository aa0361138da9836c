#include "layer/core/build_name.h"

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The owner of the note, with its 0. */
static const char owner[] = "GNU";

static void put_hex(char *text, const unsigned char *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        *text++ = digits[bytes[i] >> 4];
        *text++ = digits[bytes[i] & 15];
    }
    *text = '\0';
}

bool pm_build_id_of_notes(const void *notes, size_t size, size_t align, char *text,
                          size_t text_bytes)
{
    const unsigned char *at = notes;
    size_t left = size;
    ElfW(Nhdr) head;
    while (left >= sizeof head) {
        memcpy(&head, at, sizeof head);
        const size_t name = sizeof head, most = left;
        if (head.n_namesz > most || head.n_descsz > most)
            return false;
        const size_t bytes = (name + head.n_namesz + align - 1) / align * align;
        const size_t end = (bytes + head.n_descsz + align - 1) / align * align;
        if (bytes > left || head.n_descsz > left - bytes)
            return false;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof owner &&
            memcmp(at + name, owner, sizeof owner) == 0 && head.n_descsz > 0 &&
            2 * (size_t)head.n_descsz < text_bytes) {
            put_hex(text, at + bytes, head.n_descsz);
            return true;
        }
        if (end >= left)
            return false;
        at += end;
        left -= end;
    }
    return false;
}

struct search {
    uintptr_t address; /* in the object that is looked for */
    bool found;
    char id[PM_BUILD_NAME_BYTES - 32];
};

static bool holds(const struct dl_phdr_info *object, uintptr_t address)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const uintptr_t start = (uintptr_t)(object->dlpi_addr + segment->p_vaddr);
        if (segment->p_type == PT_LOAD && address >= start && address - start < segment->p_memsz)
            return true;
    }
    return false;
}

/* Of dl_iterate_phdr; not 0 ends it. */
static int look(struct dl_phdr_info *object, size_t size, void *data)
{
    struct search *search = data;
    (void)size;
    if (!holds(object, search->address))
        return 0;
    for (size_t i = 0; !search->found && i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE)
            search->found = pm_build_id_of_notes(
                (const void *)(uintptr_t)(object->dlpi_addr + segment->p_vaddr), segment->p_memsz,
                segment->p_align == 8 ? 8 : 4, search->id, sizeof search->id);
    }
    return 1;
}

bool pm_build_name(char name[PM_BUILD_NAME_BYTES])
{
    struct search search = {.address = (uintptr_t)owner};
    dl_iterate_phdr(look, &search);
    snprintf(name, PM_BUILD_NAME_BYTES, "%s%s%s", PM_VERSION, search.found ? "+" : "",
             search.found ? search.id : "");
    return search.found;
}
