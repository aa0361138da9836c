#include "base/random.h"
#include "profile/profile.h"
#include "tests/cmocka_includes.h"
#include <stdlib.h>
#include <string.h>

static void round_trips(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 100, 65536, 65537, 300000, 3000000};
    struct pm_random random;
    pm_random_init(&random, 1);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t size = sizes[i];
        unsigned char *data = malloc(size + 1);
        for (size_t k = 0; k < size; k++)
            data[k] = (unsigned char)pm_random_below(&random, 7);
        struct pm_buffer packed, back;
        struct pm_error error = {0};
        pm_buffer_init(&packed, 1 << 22);
        pm_buffer_init(&back, size ? size : 1);
        assert_true(pm_compress(data, size, &packed, &error));
        if (!pm_decompress(packed.data, packed.size, &back, &error))
            fail_msg("%zu bytes: %s", size, error.message);
        assert_int_equal(back.size, size);
        assert_memory_equal(back.data, data, size);

        /* One byte less room: refused, and nothing is left of it. */
        if (size > 1) {
            struct pm_buffer small;
            pm_buffer_init(&small, size - 1);
            assert_false(pm_decompress(packed.data, packed.size, &small, &error));
            assert_int_equal(small.size, 0);
            pm_buffer_finish(&small);
        }
        pm_buffer_finish(&packed);
        pm_buffer_finish(&back);
        free(data);
    }
}

static void refuses_every_cut_and_every_flipped_bit(void **state)
{
    (void)state;
    char text[600];
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)('a' + (i * i) % 23);
    struct pm_buffer packed, back;
    struct pm_error error;
    pm_buffer_init(&packed, 4096);
    pm_buffer_init(&back, 4096);
    assert_true(pm_compress(text, sizeof(text), &packed, &error));
    assert_true(pm_buffer_append_string(&back, "kept"));
    for (size_t cut = 0; cut < packed.size; cut++) {
        assert_false(pm_decompress(packed.data, cut, &back, &error));
        assert_string_equal((char *)back.data, "kept");
    }
    for (size_t bit = 0; bit < packed.size * 8; bit++) {
        packed.data[bit / 8] = (unsigned char)(packed.data[bit / 8] ^ 1u << (bit % 8));
        if (pm_decompress(packed.data, packed.size, &back, &error)) {
            /* A bit that means nothing may flip, but never the content. */
            assert_int_equal(back.size, 4 + sizeof(text));
            assert_memory_equal(back.data + 4, text, sizeof(text));
            back.size = 4;
            back.data[4] = 0;
        }
        assert_string_equal((char *)back.data, "kept");
        packed.data[bit / 8] = (unsigned char)(packed.data[bit / 8] ^ 1u << (bit % 8));
    }
    assert_true(pm_buffer_append_string(&packed, "x"));
    assert_false(pm_decompress(packed.data, packed.size, &back, &error));
    assert_non_null(strstr(error.message, "more follows"));
    pm_buffer_finish(&packed);
    pm_buffer_finish(&back);
}

/* 64 MiB of zeroes in some thousand bytes: stopped at the cap, whatever the frame says of itself.
 */
static void a_bomb_stops_at_the_cap(void **state)
{
    (void)state;
    size_t size = (size_t)64 << 20;
    unsigned char *zeroes = calloc(1, size);
    struct pm_buffer bomb, out;
    struct pm_error error;
    pm_buffer_init(&bomb, 1 << 20);
    assert_true(pm_compress(zeroes, size, &bomb, &error));
    free(zeroes);
    assert_true(bomb.size < 10000);
    pm_buffer_init(&out, 1 << 20);
    assert_false(pm_decompress(bomb.data, bomb.size, &out, &error));
    assert_true(out.allocated <= (1 << 20) + 1);

    /* A frame that claims a window of 3.75 TiB: refused before any is allocated. */
    static const unsigned char window[] = {0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xFF, 0x01, 0x00, 0x00};
    assert_false(pm_decompress(window, sizeof(window), &out, &error));
    assert_int_equal(error.code, PM_ERROR_INPUT);
    pm_buffer_finish(&bomb);
    pm_buffer_finish(&out);
}

/* What is like other bytes takes next to nothing, and is read with these alone. */
static void what_is_like_other_bytes(void **state)
{
    (void)state;
    enum { SIZE = 200000 };
    static unsigned char like[SIZE], data[SIZE];
    struct pm_random random;
    struct pm_buffer packed, back;
    struct pm_error error;
    pm_random_init(&random, 2);
    for (size_t i = 0; i < SIZE; i++)
        like[i] = data[i] = (unsigned char)pm_random_below(&random, 256);
    for (size_t i = 0; i < SIZE; i += SIZE / 10)
        data[i]++;
    pm_buffer_init(&packed, 4096);
    pm_buffer_init(&back, SIZE);
    assert_true(pm_compress_against(like, SIZE, data, SIZE, &packed, &error));
    assert_true(pm_decompress_against(like, SIZE, packed.data, packed.size, &back, &error));
    assert_int_equal(back.size, SIZE);
    assert_memory_equal(back.data, data, SIZE);
    back.size = 0;
    assert_false(pm_decompress(packed.data, packed.size, &back, &error));
    like[SIZE / 2 + 100]++;
    assert_false(pm_decompress_against(like, SIZE, packed.data, packed.size, &back, &error));
    assert_int_equal(back.size, 0);
    pm_buffer_finish(&packed);
    pm_buffer_finish(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(refuses_every_cut_and_every_flipped_bit),
        cmocka_unit_test(a_bomb_stops_at_the_cap),
        cmocka_unit_test(what_is_like_other_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
