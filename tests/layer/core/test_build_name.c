/* The name of a build, by the linker's build id (core/build_name.h). */
#include "layer/core/build_name.h"

#include "tests/cmocka_includes.h"
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct notes {
    unsigned char bytes[256];
    size_t size;
};

static void pad(struct notes *notes, size_t align)
{
    while (notes->size % align != 0)
        notes->bytes[notes->size++] = 0;
}

static void add(struct notes *notes, size_t align, uint32_t type, const char *name,
                const void *content, uint32_t size)
{
    const ElfW(Nhdr)
        head = {.n_namesz = (uint32_t)strlen(name) + 1, .n_descsz = size, .n_type = type};
    memcpy(notes->bytes + notes->size, &head, sizeof head);
    notes->size += sizeof head;
    memcpy(notes->bytes + notes->size, name, head.n_namesz);
    notes->size += head.n_namesz;
    pad(notes, align);
    memcpy(notes->bytes + notes->size, content, size);
    notes->size += size;
    pad(notes, align);
}

/* A property, another owner's note of the same type, an ABI tag; then the build id. */
static struct notes make_notes(size_t align)
{
    struct notes notes = {.size = 0};
    add(&notes, align, 5, "GNU", "\1\2\3\4\5\6\7", 7);
    add(&notes, align, NT_GNU_BUILD_ID, "Else", "\x99\x99", 2);
    add(&notes, align, NT_GNU_ABI_TAG, "GNU", "\0\0\0\0\3\0\0", 8);
    add(&notes, align, NT_GNU_BUILD_ID, "GNU", "\x01\xab\xff\x00\x5c", 5);
    return notes;
}

/* In memory that ends where the notes do, for sanitizers. */
static bool find(const struct notes *notes, size_t size, size_t align, char text[32])
{
    unsigned char *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, notes->bytes, size);
    const bool found = pm_build_id_of_notes(copy, size, align, text, 32);
    free(copy);
    return found;
}

static void it_is_found_among_other_notes(void **state)
{
    (void)state;
    for (size_t align = 4; align <= 8; align += 4) {
        const struct notes notes = make_notes(align);
        char text[32] = "";
        assert_true(find(&notes, notes.size, align, text));
        assert_string_equal(text, "01abff005c");
    }
}

static void what_is_cut_off_or_too_long_is_none(void **state)
{
    (void)state;
    char text[32] = "";
    const struct notes notes = make_notes(4);
    for (size_t size = 0; size < notes.size - 3; size++)
        assert_false(find(&notes, size, 4, text));
    assert_false(pm_build_id_of_notes(notes.bytes, notes.size, 4, text, 10));
    assert_true(pm_build_id_of_notes(notes.bytes, notes.size, 4, text, 11));
}

static void damaged_sizes_are_none(void **state)
{
    (void)state;
    const uint32_t sizes[] = {UINT32_MAX, UINT32_MAX - 3, UINT32_MAX - 11, 1u << 31, 250};
    char text[32] = "";
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (size_t at = 0; at < 2 * sizeof(uint32_t); at += sizeof(uint32_t)) {
            struct notes notes = make_notes(4);
            memcpy(notes.bytes + at, &sizes[i], sizeof sizes[i]);
            assert_false(find(&notes, notes.size, 4, text));
        }
    }
}

/* What binutils say of this very program. */
static void it_is_the_linkers(void **state)
{
    (void)state;
    char name[PM_BUILD_NAME_BYTES], expected[PM_BUILD_NAME_BYTES], line[512], id[64] = "";
    FILE *said = popen("readelf --notes --wide \"" PROGRAM "\"", "r");
    assert_non_null(said);
    while (fgets(line, sizeof line, said)) {
        const char *at = strstr(line, "Build ID: ");
        if (at)
            sscanf(at, "Build ID: %63s", id);
    }
    assert_int_equal(pclose(said), 0);
    assert_int_equal(strlen(id), 40);
    snprintf(expected, sizeof expected, "%s+%s", PM_VERSION, id);
    assert_true(pm_build_name(name));
    assert_string_equal(name, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_found_among_other_notes),
        cmocka_unit_test(what_is_cut_off_or_too_long_is_none),
        cmocka_unit_test(damaged_sizes_are_none),
        cmocka_unit_test(it_is_the_linkers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
