#include "sampler/sampler.h"
#include "tests/sampler/chi_square.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Of one space. */
static struct pm_shader_sampler *make(uint32_t count, uint32_t batch, const uint8_t *deficit,
                                      uint64_t seed)
{
    const struct pm_sampler_space space = {count, batch, deficit};
    return pm_shader_sampler_create(&space, 1, seed);
}

static void batches_are_a_partition(void **state)
{
    (void)state;
    const uint32_t counts[] = {1, 2, 7, 8, 9, 64, 1000, 4097};
    const uint32_t batches[] = {1, 2, 3, 8, 100, UINT32_MAX};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        for (size_t j = 0; j < sizeof(batches) / sizeof(batches[0]); j++) {
            uint32_t n = counts[i], b = batches[j];
            struct pm_shader_sampler *sampler = make(n, b, NULL, i * 10 + j);
            assert_non_null(sampler);
            uint32_t expected = n / b + (n % b != 0);
            assert_int_equal(pm_shader_sampler_batch_count(sampler), expected);
            uint8_t *seen = calloc(n, 1);
            for (uint32_t k = 0; k < expected; k++) {
                uint32_t size;
                const uint32_t *points = pm_shader_sampler_batch(sampler, k, &size);
                assert_true(size >= 1 && size <= b);
                for (uint32_t l = 0; l < size; l++) {
                    assert_true(points[l] < n);
                    assert_true(l == 0 || points[l] > points[l - 1]);
                    assert_false(seen[points[l]]);
                    seen[points[l]] = 1;
                }
            }
            assert_null(memchr(seen, 0, n));
            free(seen);
            pm_shader_sampler_destroy(sampler);
        }
    }
    assert_null(make(0, 8, NULL, 1));
    pm_shader_sampler_destroy(NULL);
}

/* The batch that point holds in the split of a seed. */
static uint32_t batch_of(const struct pm_shader_sampler *sampler, uint32_t point)
{
    for (uint32_t i = 0; i < pm_shader_sampler_batch_count(sampler); i++) {
        uint32_t size;
        const uint32_t *points = pm_shader_sampler_batch(sampler, i, &size);
        for (uint32_t j = 0; j < size; j++) {
            if (points[j] == point)
                return i;
        }
    }
    fail_msg("point %u is in no batch", point);
    return 0;
}

/* All 30 ways to split 5 points into batches of 1, 2 and 2 are equally likely. */
static void splits_are_uniform(void **state)
{
    (void)state;
    uint64_t counts[243] = {0}, dense[31];
    for (uint64_t seed = 0; seed < 60000; seed++) {
        struct pm_shader_sampler *sampler = make(5, 2, NULL, seed);
        uint32_t code = 0;
        for (uint32_t point = 0; point < 5; point++)
            code = code * 3 + batch_of(sampler, point);
        counts[code]++;
        pm_shader_sampler_destroy(sampler);
    }
    size_t ways = 0;
    for (size_t i = 0; i < 243; i++) {
        if (counts[i] && ways < 31)
            dense[ways++] = counts[i];
    }
    assert_int_equal(ways, 30);
    assert_true(chi_square_uniform(dense, ways));
}

/* In a larger split, every other point is as often a point's partner. */
static void partners_are_uniform(void **state)
{
    (void)state;
    uint64_t partners[64] = {0};
    for (uint64_t seed = 0; seed < 40000; seed++) {
        struct pm_shader_sampler *sampler = make(64, 2, NULL, seed);
        uint32_t size;
        const uint32_t *pair = pm_shader_sampler_batch(sampler, batch_of(sampler, 17), &size);
        partners[pair[0] == 17 ? pair[1] : pair[0]]++;
        pm_shader_sampler_destroy(sampler);
    }
    assert_int_equal(partners[17], 0);
    partners[17] = partners[63];
    assert_true(chi_square_uniform(partners, 63));
}

/* Without a deficit, or with a deficit everywhere, N points take exactly ceil(N / b) calls. */
static void a_cycle_covers_everything(void **state)
{
    (void)state;
    uint8_t everything[125];
    memset(everything, 0xff, sizeof(everything));
    for (int full = 0; full < 2; full++) {
        struct pm_shader_sampler *sampler = make(1000, 8, full ? everything : NULL, 4);
        uint32_t batches = pm_shader_sampler_batch_count(sampler);
        assert_int_equal(batches, 125);
        for (int cycle = 0; cycle < 50; cycle++) {
            uint8_t seen[125] = {0};
            for (uint32_t i = 0; i < batches; i++)
                seen[pm_shader_sampler_next(sampler)]++;
            for (uint32_t i = 0; i < batches; i++)
                assert_int_equal(seen[i], 1);
        }
        pm_shader_sampler_destroy(sampler);
    }
}

/* A program that calls the shader exactly as often a frame as there are batches shows each batch
 * all calls. */
static void no_batch_sticks_to_a_call(void **state)
{
    (void)state;
    enum { BATCHES = 10 };
    struct pm_shader_sampler *sampler = make(80, 8, NULL, 9);
    uint64_t third[BATCHES] = {0};
    for (int frame = 0; frame < 20000; frame++) {
        for (int call = 0; call < BATCHES; call++) {
            uint32_t batch = pm_shader_sampler_next(sampler);
            if (call == 3)
                third[batch]++;
        }
    }
    assert_true(chi_square_uniform(third, BATCHES));
    pm_shader_sampler_destroy(sampler);
}

static void deficit_steers_nine_in_ten(void **state)
{
    (void)state;
    enum { POINTS = 160, BATCHES = 20, CALLS = 200000 };
    uint8_t deficit[POINTS / 8] = {0};
    bool wanted[BATCHES] = {false};
    deficit[3 / 8] |= 1u << (3 % 8);
    deficit[77 / 8] |= 1u << (77 % 8);
    deficit[140 / 8] |= 1u << (140 % 8);
    struct pm_shader_sampler *sampler = make(POINTS, 8, deficit, 21);
    assert_int_equal(pm_shader_sampler_batch_count(sampler), BATCHES);
    wanted[batch_of(sampler, 3)] = wanted[batch_of(sampler, 77)] = true;
    wanted[batch_of(sampler, 140)] = true;
    uint64_t hits[BATCHES] = {0}, split[2] = {0};
    for (int i = 0; i < CALLS; i++)
        hits[pm_shader_sampler_next(sampler)]++;
    double holding = 0.0;
    for (int i = 0; i < BATCHES; i++) {
        split[wanted[i]] += hits[i];
        holding += wanted[i];
    }
    double steered = 0.9 + 0.1 * holding / BATCHES;
    assert_true(chi_square_accepts(split, (double[]){1.0 - steered, steered}, 2));
    assert_false(chi_square_accepts(split, (double[]){1.005 - steered, steered - 0.005}, 2));
    /* Within both kinds all batches take turns. */
    for (int i = 0; i < BATCHES; i++) {
        double expected = (double)split[wanted[i]] / (wanted[i] ? holding : BATCHES - holding);
        assert_true(fabs((double)hits[i] - expected) < 5.0 * sqrt(expected));
    }
    pm_shader_sampler_destroy(sampler);
}

/* Each space is split by itself, empty ones not at all. */
static void spaces_do_not_mix(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 8, 100, UINT32_MAX};
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        const struct pm_sampler_space spaces[] = {
            {19, batches[i], NULL}, {0, batches[i], NULL}, {276, 2 * (batches[i] / 2), NULL}};
        struct pm_shader_sampler *sampler = pm_shader_sampler_create(spaces, 3, i);
        assert_non_null(sampler);
        uint8_t seen[3][276] = {{0}};
        uint32_t counts[3] = {0}, last = 0;
        for (uint32_t k = 0; k < pm_shader_sampler_batch_count(sampler); k++) {
            uint32_t size, space = pm_shader_sampler_space(sampler, k);
            const uint32_t *points = pm_shader_sampler_batch(sampler, k, &size);
            assert_true(space >= last && space < 3 && spaces[space].count > 0);
            assert_true(size <= (spaces[space].batch ? spaces[space].batch : 1));
            last = space;
            for (uint32_t l = 0; l < size; l++) {
                assert_true(points[l] < spaces[space].count);
                assert_true(l == 0 || points[l] > points[l - 1]);
                assert_int_equal(seen[space][points[l]]++, 0);
                counts[space]++;
            }
        }
        for (uint32_t k = 0; k < 3; k++)
            assert_int_equal(counts[k], spaces[k].count);
        pm_shader_sampler_destroy(sampler);
    }
    const struct pm_sampler_space none[] = {{0, 8, NULL}, {0, 8, NULL}};
    assert_null(pm_shader_sampler_create(none, 2, 1));
}

/* Every batch of every space comes as often. */
static void spaces_share_a_cycle(void **state)
{
    (void)state;
    const struct pm_sampler_space spaces[] = {{20, 8, NULL}, {170, 8, NULL}};
    struct pm_shader_sampler *sampler = pm_shader_sampler_create(spaces, 2, 11);
    uint32_t batches = pm_shader_sampler_batch_count(sampler), of_first = 0;
    assert_int_equal(batches, 3 + 22);
    for (uint32_t cycle = 0; cycle < 40; cycle++) {
        uint8_t seen[25] = {0};
        for (uint32_t i = 0; i < batches; i++) {
            const uint32_t batch = pm_shader_sampler_next(sampler);
            assert_int_equal(seen[batch]++, 0);
            of_first += pm_shader_sampler_space(sampler, batch) == 0;
        }
    }
    assert_int_equal(of_first, 40 * 3);
    pm_shader_sampler_destroy(sampler);
}

/* A space that is known steers calls to one that is not; of which every batch holds a deficit. */
static void deficit_steers_between_spaces(void **state)
{
    (void)state;
    enum { CALLS = 100000 };
    uint8_t nothing[3] = {0}, one[3] = {0x10};
    const struct pm_sampler_space known[] = {{20, 8, nothing}, {80, 8, NULL}};
    struct pm_shader_sampler *sampler = pm_shader_sampler_create(known, 2, 3);
    uint64_t split[2] = {0};
    for (int i = 0; i < CALLS; i++)
        split[pm_shader_sampler_space(sampler, pm_shader_sampler_next(sampler))]++;
    assert_true(chi_square_accepts(split, (double[]){0.1 * 3 / 13, 0.9 + 0.1 * 10 / 13}, 2));
    pm_shader_sampler_destroy(sampler);
    /* One block and all candidates lack samples: 11 of 13 batches share nine calls in ten. */
    const struct pm_sampler_space both[] = {{20, 8, one}, {80, 8, NULL}};
    sampler = pm_shader_sampler_create(both, 2, 3);
    memset(split, 0, sizeof(split));
    for (int i = 0; i < CALLS; i++)
        split[pm_shader_sampler_space(sampler, pm_shader_sampler_next(sampler))]++;
    const double first = 0.9 / 11 + 0.1 * 3 / 13;
    assert_true(chi_square_accepts(split, (double[]){first, 1 - first}, 2));
    pm_shader_sampler_destroy(sampler);
    /* Nothing lacks anything: all take turns. */
    const struct pm_sampler_space done[] = {{20, 8, nothing}, {20, 8, nothing}};
    sampler = pm_shader_sampler_create(done, 2, 3);
    uint8_t seen[6] = {0};
    for (int i = 0; i < 6; i++)
        seen[pm_shader_sampler_next(sampler)]++;
    for (int i = 0; i < 6; i++)
        assert_int_equal(seen[i], 1);
    pm_shader_sampler_destroy(sampler);
}

/* Expected samples until all of n points were in a random batch of b (DESIGN, Numbers to beat). */
static double expected_samples(int n, int b)
{
    double sum = 0.0;
    for (int k = 1; k <= n; k++) {
        double choose = 1.0, miss = 1.0;
        for (int i = 0; i < k; i++)
            choose *= (double)(n - i) / (i + 1);
        for (int i = 0; i < b; i++)
            miss *= n - k - i > 0 ? (double)(n - k - i) / (n - i) : 0.0;
        sum += (k % 2 ? 1.0 : -1.0) * choose / (1.0 - miss);
    }
    return sum;
}

/* A client that starts afresh for each sample, as many short sessions do, needs what the formula
 * says; one session's cycle needs ceil(n / b). */
static void sessions_cover_as_the_formula_says(void **state)
{
    (void)state;
    const int cases[][2] = {{12, 1}, {16, 2}, {16, 4}, {20, 5}};
    assert_true(fabs(expected_samples(4, 1) - 4.0 * (1.0 + 0.5 + 1.0 / 3 + 0.25)) < 1e-9);
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t n = (uint32_t)cases[i][0], b = (uint32_t)cases[i][1];
        enum { TRIALS = 8000 };
        double sum = 0.0, squares = 0.0;
        for (int trial = 0; trial < TRIALS; trial++) {
            uint32_t covered = 0, samples = 0;
            while (covered != (UINT32_C(1) << n) - 1) {
                struct pm_shader_sampler *sampler = make(n, b, NULL, seed++);
                uint32_t size;
                const uint32_t *points =
                    pm_shader_sampler_batch(sampler, pm_shader_sampler_next(sampler), &size);
                for (uint32_t j = 0; j < size; j++)
                    covered |= UINT32_C(1) << points[j];
                pm_shader_sampler_destroy(sampler);
                samples++;
            }
            sum += samples;
            squares += (double)samples * samples;
        }
        double mean = sum / TRIALS;
        double error = sqrt((squares / TRIALS - mean * mean) / TRIALS);
        double truth = expected_samples((int)n, (int)b);
        if (fabs(mean - truth) > 4.0 * error)
            fail_msg("n %u b %u: %g samples, not %g +- %g", n, b, mean, truth, 4.0 * error);
        assert_true(4.0 * error < truth * 0.03);
        assert_true((n + b - 1) / b < truth);
    }
}

enum { THREADS = 4, EACH = 25000, THREAD_BATCHES = 50 };

struct worker {
    struct pm_shader_sampler *sampler;
    uint32_t hits[THREAD_BATCHES];
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (int i = 0; i < EACH; i++)
        worker->hits[pm_shader_sampler_next(worker->sampler)]++;
    return NULL;
}

static void threads_share_a_cycle(void **state)
{
    (void)state;
    struct pm_shader_sampler *sampler = make(THREAD_BATCHES * 2, 2, NULL, 5);
    struct worker workers[THREADS] = {0};
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i].sampler = sampler;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int batch = 0; batch < THREAD_BATCHES; batch++) {
        uint32_t total = 0;
        for (int i = 0; i < THREADS; i++)
            total += workers[i].hits[batch];
        assert_int_equal(total, THREADS * EACH / THREAD_BATCHES);
    }
    pm_shader_sampler_destroy(sampler);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_a_partition),
        cmocka_unit_test(splits_are_uniform),
        cmocka_unit_test(partners_are_uniform),
        cmocka_unit_test(a_cycle_covers_everything),
        cmocka_unit_test(no_batch_sticks_to_a_call),
        cmocka_unit_test(deficit_steers_nine_in_ten),
        cmocka_unit_test(spaces_do_not_mix),
        cmocka_unit_test(spaces_share_a_cycle),
        cmocka_unit_test(deficit_steers_between_spaces),
        cmocka_unit_test(sessions_cover_as_the_formula_says),
        cmocka_unit_test(threads_share_a_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
