/* Words that are kept compressed (layer/shader/kept_modules.h). */
#include "layer/shader/kept_modules.h"

#include "base/random.h"
#include "tests/cmocka_includes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES = 40, WORDS = 1000 };

static struct pm_random random_words;
static const struct pm_words nothing;

/* Words that do not get much smaller. */
static struct pm_words make(size_t count)
{
    struct pm_words words = {malloc(count * sizeof *words.data), count};
    assert_non_null(words.data);
    for (size_t i = 0; i < count; i++)
        words.data[i] = (uint32_t)pm_random_below(&random_words, UINT32_MAX);
    return words;
}

static bool holds(struct pm_kept_modules *kept, struct pm_kept_module *module,
                  const struct pm_words *words)
{
    struct pm_words got;
    if (!pm_kept_module_get(kept, module, &nothing, &got))
        return false;
    assert_int_equal(got.count, words->count);
    assert_memory_equal(got.data, words->data, words->count * sizeof *words->data);
    pm_words_finish(&got);
    return true;
}

static void the_latest_stay(void **state)
{
    static struct pm_kept_module modules[MODULES];
    struct pm_words words[MODULES];
    (void)state;
    pm_random_init(&random_words, 3);
    /* Some ten of them. */
    struct pm_kept_modules *kept =
        pm_kept_modules_create((size_t)10 * WORDS * sizeof(uint32_t) + 1000);
    assert_false(pm_kept_module_get(kept, &modules[0], &nothing, &words[0]));
    for (int i = 0; i < MODULES; i++) {
        words[i] = make(WORDS);
        pm_kept_module_put(kept, &modules[i], &nothing, &words[i]);
        assert_true(holds(kept, &modules[i], &words[i]));
        /* Whoever is asked for stays. */
        assert_true(holds(kept, &modules[0], &words[0]));
    }
    int stayed = 0;
    for (int i = 0; i < MODULES; i++)
        stayed += holds(kept, &modules[i], &words[i]);
    assert_in_range(stayed, 8, 10);
    for (int i = MODULES - 7; i < MODULES; i++)
        assert_true(holds(kept, &modules[i], &words[i]));
    /* What was dropped is kept again. */
    assert_false(holds(kept, &modules[1], &words[1]));
    pm_kept_module_put(kept, &modules[1], &nothing, &words[1]);
    assert_true(holds(kept, &modules[1], &words[1]));
    /* What is larger than all does not drive out the others. */
    struct pm_kept_module large = {0};
    struct pm_words many = make((size_t)11 * WORDS);
    pm_kept_module_put(kept, &large, &nothing, &many);
    assert_false(holds(kept, &large, &many));
    assert_true(holds(kept, &modules[1], &words[1]));
    for (int i = 0; i < MODULES; i++) {
        pm_kept_module_drop(kept, &modules[i]);
        assert_false(holds(kept, &modules[i], &words[i]));
        pm_words_finish(&words[i]);
    }
    pm_words_finish(&many);
    pm_kept_modules_destroy(kept);
    pm_kept_modules_destroy(NULL);
}

static void what_repeats_is_small(void **state)
{
    static struct pm_kept_module modules[MODULES];
    struct pm_words words = make(WORDS);
    int stayed = 0;
    (void)state;
    memset(words.data, 1, WORDS * sizeof *words.data);
    struct pm_kept_modules *kept = pm_kept_modules_create(WORDS * sizeof(uint32_t));
    for (int i = 0; i < MODULES; i++)
        pm_kept_module_put(kept, &modules[i], &nothing, &words);
    for (int i = 0; i < MODULES; i++)
        stayed += holds(kept, &modules[i], &words);
    assert_int_equal(stayed, MODULES);
    for (int i = 0; i < MODULES; i++)
        pm_kept_module_drop(kept, &modules[i]);
    pm_words_finish(&words);
    pm_kept_modules_destroy(kept);
}

/* Of what the words were made of hardly anything is kept again. */
static void what_it_was_made_of_is_not_kept(void **state)
{
    static struct pm_kept_module modules[MODULES];
    struct pm_words like = make(WORDS),
                    words = {malloc((WORDS + 2) * sizeof *words.data), WORDS + 2};
    struct pm_words got;
    (void)state;
    assert_non_null(words.data);
    /* Random words, with two more in the middle. */
    memcpy(words.data, like.data, WORDS / 2 * sizeof *words.data);
    words.data[WORDS / 2] = words.data[WORDS / 2 + 1] = 7;
    memcpy(words.data + WORDS / 2 + 2, like.data + WORDS / 2, WORDS / 2 * sizeof *words.data);
    struct pm_kept_modules *kept = pm_kept_modules_create(WORDS * sizeof(uint32_t));
    for (int i = 0; i < MODULES; i++)
        pm_kept_module_put(kept, &modules[i], &like, &words);
    for (int i = 0; i < MODULES; i++) {
        assert_true(pm_kept_module_get(kept, &modules[i], &like, &got));
        assert_int_equal(got.count, words.count);
        assert_memory_equal(got.data, words.data, words.count * sizeof *words.data);
        pm_words_finish(&got);
        pm_kept_module_drop(kept, &modules[i]);
    }
    pm_words_finish(&like);
    pm_words_finish(&words);
    pm_kept_modules_destroy(kept);
}

/* A place that is filled again has the latest, also where nobody could read what was there. */
static void what_is_put_again_is_the_latest(void **state)
{
    static struct pm_kept_module modules[2];
    struct pm_words first = make(WORDS), second = make(WORDS);
    (void)state;
    struct pm_kept_modules *kept =
        pm_kept_modules_create((size_t)3 * WORDS * sizeof(uint32_t) + 500);
    pm_kept_module_put(kept, &modules[1], &nothing, &first);
    for (int i = 0; i < 10; i++)
        pm_kept_module_put(kept, &modules[0], &nothing, i % 2 == 0 ? &first : &second);
    assert_true(holds(kept, &modules[0], &second));
    assert_true(holds(kept, &modules[1], &first));
    pm_kept_module_drop(kept, &modules[0]);
    pm_kept_module_put(kept, &modules[0], &nothing, &first);
    assert_true(holds(kept, &modules[1], &first));
    pm_kept_module_drop(kept, &modules[0]);
    pm_kept_module_drop(kept, &modules[1]);
    pm_words_finish(&first);
    pm_words_finish(&second);
    pm_kept_modules_destroy(kept);
}

enum { THREADS = 4, TURNS = 300 };

static struct pm_kept_modules *of_all;
static struct pm_kept_module theirs[THREADS];

static void *put_and_get(void *which)
{
    struct pm_kept_module *module = &theirs[(uintptr_t)which];
    uint32_t data[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        data[i] = i * 2654435761u + (uint32_t)(uintptr_t)which;
    const struct pm_words words = {data, WORDS};
    for (int i = 0; i < TURNS; i++) {
        if (!holds(of_all, module, &words))
            pm_kept_module_put(of_all, module, &nothing, &words);
    }
    pm_kept_module_drop(of_all, module);
    return NULL;
}

static void threads_share_the_room(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    of_all = pm_kept_modules_create((size_t)2 * WORDS * sizeof(uint32_t) + 500);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, put_and_get, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pm_kept_modules_destroy(of_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_stay),
        cmocka_unit_test(what_repeats_is_small),
        cmocka_unit_test(what_it_was_made_of_is_not_kept),
        cmocka_unit_test(what_is_put_again_is_the_latest),
        cmocka_unit_test(threads_share_the_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
