/* What trials may spend (budget.h), on a clock of the test's own. */
#include "layer/trial/budget.h"

#include "base/random.h"
#include "tests/cmocka_includes.h"
#include <math.h>

enum { MS = 1000000, TIMING = 10000 /* what timing a pair costs */ };

static const int64_t second = PM_SECOND;

static struct pm_budget budget_of(double share)
{
    struct pm_budget budget;
    pm_budget_init(&budget, share, (int64_t[PM_OWED_BY]){0}, 0);
    return budget;
}

/* A pair of a trial, of which nothing is known before the first: at a time when it may begin. */
static void one_pair(struct pm_budget *budget, struct pm_trial_cost *cost, struct pm_use_cost *use,
                     double own, double variant, enum pm_trial_stands stands, int64_t now)
{
    const int64_t charged = pm_budget_begin(budget, cost, now);
    assert_true(charged >= 0);
    pm_budget_settle(budget, cost, use, (double[]){own, variant}, stands, charged);
}

/* So many that what one takes is known, without a charge. */
static void known_pairs(struct pm_budget *budget, struct pm_trial_cost *cost,
                        struct pm_use_cost *use, double own, double variant,
                        enum pm_trial_stands stands)
{
    for (int i = 0; i < 4; i++)
        pm_budget_settle(budget, cost, use, (double[]){own, variant}, stands, 0);
}

/* How many pairs may begin at once. */
static uint32_t pairs_at(struct pm_budget *budget, struct pm_trial_cost *cost, int64_t now)
{
    uint32_t count = 0;
    while (count < 1000 && pm_budget_begin(budget, cost, now) >= 0)
        count++;
    return count;
}

static void pairs_under_way_count(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost cost = {0};
    struct pm_use_cost use = {0};
    known_pairs(&budget, &cost, &use, MS / 4, MS / 2, false);
    assert_in_range(cost.expected, MS / 4 + TIMING - 1, MS / 4 + TIMING);
    assert_int_equal(pairs_at(&budget, &cost, 0), 0);
    /* Five milliseconds, of which one has been spent: fifteen, and none with what is left. */
    assert_int_equal(pairs_at(&budget, &cost, second), 15);
    assert_true(pm_budget_spent(&budget, second) <= 0.005);
    pm_budget_finish(&budget);
}

static void an_unknown_pair_is_a_frame(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost first = {0}, second_one = {0};
    struct pm_use_cost use = {0};
    pm_budget_frames(&budget, 100, second);
    /* 10 ms, which two seconds have, and no less. */
    assert_true(pm_budget_begin(&budget, &first, second) < 0);
    const int64_t now = 2 * second + 2 * MS;
    const int64_t charged = pm_budget_begin(&budget, &first, now);
    assert_int_equal(charged, 10 * MS + TIMING);
    assert_true(pm_budget_begin(&budget, &second_one, now) < 0);
    pm_budget_settle(&budget, &first, &use, (double[]){1 * MS, 1 * MS}, false, charged);
    /* What it did not take is left for the next one. */
    assert_true(pm_budget_begin(&budget, &second_one, now + 2 * MS) >= 0);
    pm_budget_finish(&budget);
}

static void what_is_used_is_compared_with(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost cost = {0};
    struct pm_use_cost use = {0};
    known_pairs(&budget, &cost, &use, 3 * MS, 2 * MS, false);
    assert_true(pm_budget_spent(&budget, second) < 0);
    known_pairs(&budget, &cost, &use, 3 * MS, 2 * MS, true);
    assert_in_range(cost.expected, 1 * MS + TIMING - 1, 1 * MS + TIMING);
    /* What the one saved the other spent, but for timing both. */
    assert_float_equal(pm_budget_spent(&budget, second), 8e-9 * TIMING, 1e-8);
    pm_budget_finish(&budget);
}

static void is_not_saved_for_long(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost cost = {.expected = 1 * MS};
    assert_int_equal(pairs_at(&budget, &cost, 1000 * second), 5);
    pm_budget_finish(&budget);
}

/* A thread of ours has the budget: who records does not wait for it, and a pair begins later. */
static void who_records_does_not_wait(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost cost = {.expected = MS};
    pthread_mutex_lock(&budget.lock);
    assert_true(pm_budget_begin(&budget, &cost, second) < 0);
    pthread_mutex_unlock(&budget.lock);
    assert_true(pm_budget_begin(&budget, &cost, second) >= 0);
    pm_budget_finish(&budget);
}

/* Now and then something else runs meanwhile: what both take alike costs nothing. */
static void spikes_weigh_little(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(1);
    struct pm_trial_cost cost = {0};
    struct pm_use_cost use = {0};
    struct pm_random random;
    pm_random_init(&random, 7);
    known_pairs(&budget, &cost, &use, 1 * MS, 200 * MS, false);
    assert_true(cost.expected < 5 * MS);
    use = (struct pm_use_cost){0};
    cost.expected = 1 * MS;
    const double before = (double)budget.spent;
    double difference = 0;
    for (int i = 1; i <= 400; i++) {
        double time[2];
        for (int side = 0; side < 2; side++)
            time[side] = 1 * MS * (pm_random_unit(&random) < 0.02 ? 50 : 1);
        difference += time[1] - time[0];
        one_pair(&budget, &cost, &use, time[0], time[1], false, i * second);
    }
    const double spent = (double)budget.spent - before - 400.0 * TIMING;
    assert_true(difference > 40.0 * MS || difference < -40.0 * MS);
    assert_true(spent < 20.0 * MS && spent > -20.0 * MS);
    pm_budget_finish(&budget);
}

/* One time in each frame, of which a pair may begin; its times are there in the next. The share of
 * the time that its pairs took, as it is known. owed: by trials over sessions. */
static double share_of_noisy_pairs(double own, double variant, int64_t owed)
{
    struct pm_budget budget;
    pm_budget_init(&budget, 0.005, (int64_t[PM_OWED_BY]){[PM_OWED_OVER_SESSIONS] = owed}, 0);
    struct pm_trial_cost cost = {0};
    struct pm_use_cost use = {0};
    struct pm_random random;
    const int64_t frame = second / 50;
    pm_random_init(&random, 3);
    int64_t charged = -1;
    for (int i = 1; i <= 50000; i++) {
        /* Either takes up to one and a half times as long by chance. */
        const double time[] = {own * pow(1.5, pm_random_unit(&random)),
                               variant * pow(1.5, pm_random_unit(&random))};
        if (charged >= 0)
            pm_budget_settle(&budget, &cost, &use, time, PM_STANDS_OWN, charged);
        if (i % 64 == 0)
            pm_budget_frames(&budget, 64, i * frame);
        charged = pm_budget_begin(&budget, &cost, i * frame);
    }
    const double spent = pm_budget_spent(&budget, 50000 * frame);
    pm_budget_finish(&budget);
    return spent;
}

/* What seems to be saved by chance is there when as much seems to be spent. */
static void chance_takes_nothing_of_the_share(void **state)
{
    (void)state;
    const double little = share_of_noisy_pairs(40 * MS, 41 * MS, 0);
    const double more = share_of_noisy_pairs(40 * MS, 44 * MS, 0);
    /* Sessions are paid with half of it all the time. */
    const double half = share_of_noisy_pairs(40 * MS, 41 * MS, 3600 * second);
    print_message(
        "of 0.5 %%: %.4f %% (40 and 41 ms), %.4f %% (40 and 44 ms); of 0.25 %%: %.4f %%\n",
        100 * little, 100 * more, 100 * half);
    assert_true(little > 0.0045 && little <= 0.005);
    /* What the last pair took beyond what is usual is known behind it. */
    assert_true(more > 0.0048 && more <= 0.00501);
    assert_true(half > 0.0023 && half <= 0.0025);
}

/* For ten seconds a pair may begin in each of 60 frames, and takes 80 ms more: how many there are.
 */
static uint32_t slow_pairs_in_ten_seconds(struct pm_budget *budget, struct pm_trial_cost *cost,
                                          int64_t now)
{
    struct pm_use_cost use = {0};
    int64_t charged = -1;
    uint32_t pairs = 0;
    for (int i = 0; i < 600; i++) {
        if (charged >= 0)
            pm_budget_settle(budget, cost, &use, (double[]){20 * MS, 100 * MS}, PM_STANDS_OWN,
                             charged);
        charged = pm_budget_begin(budget, cost, now + i * second / 60);
        pairs += charged >= 0;
    }
    return pairs;
}

/* Such a pair is what 16 seconds have, however much others saved before. */
static void what_was_saved_pays_no_slow_trial(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost saves = {0}, slow = {0};
    struct pm_use_cost use = {0};
    int64_t now;
    for (now = second; now < 600 * second; now += second)
        one_pair(&budget, &saves, &use, 3 * MS, 2 * MS, PM_STANDS_OWN, now);
    pm_budget_frames(&budget, 36000, now);
    assert_int_equal(slow_pairs_in_ten_seconds(&budget, &slow, now), 1);
    now += 25 * second;
    assert_int_equal(slow_pairs_in_ten_seconds(&budget, &slow, now), 1);
    /* One that is known, but not beside what is bound now. */
    slow = (struct pm_trial_cost){0};
    use = (struct pm_use_cost){0};
    known_pairs(&budget, &slow, &use, 20 * MS, 20 * MS, PM_STANDS_VARIANT);
    now += 600 * second;
    assert_in_range(slow_pairs_in_ten_seconds(&budget, &slow, now), 1, 2); /* one was saved for */
    /* One that is known, but tried again. */
    slow = (struct pm_trial_cost){0};
    use = (struct pm_use_cost){0};
    known_pairs(&budget, &slow, &use, 20 * MS, 20 * MS, PM_STANDS_OWN);
    slow.expected = 0;
    now += 600 * second;
    assert_in_range(slow_pairs_in_ten_seconds(&budget, &slow, now), 1, 2); /* one was saved for */
    pm_budget_finish(&budget);
}

/* No pair begins by what others saved before: a long menu is not followed by slow frames. */
static void what_was_saved_begins_no_pairs(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost saves = {0}, cost = {.expected = 1 * MS};
    struct pm_use_cost use = {0};
    for (int i = 1; i < 1000; i++)
        one_pair(&budget, &saves, &use, 30 * MS, 20 * MS, PM_STANDS_OWN, i * second);
    assert_int_equal(pairs_at(&budget, &cost, 1000 * second), 5);
    /* And a minute's share is all that it pays of a pair that takes more than is usual. */
    use = (struct pm_use_cost){0};
    known_pairs(&budget, &cost, &use, 1 * MS, 1 * MS, PM_STANDS_OWN);
    assert_int_equal(cost.expected, TIMING);
    use = (struct pm_use_cost){0};
    pm_budget_settle(&budget, &cost, &use, (double[]){250 * MS, 1000 * MS}, PM_STANDS_OWN, TIMING);
    assert_in_range(pm_budget_owed(&budget, 1000 * second), 450 * MS, 450 * MS + 5 * TIMING);
    pm_budget_finish(&budget);
}

/* A pair that takes more than a short session has for all is paid by those that follow. */
static void what_is_owed_is_paid_later(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost cost = {0};
    struct pm_use_cost use = {0};
    one_pair(&budget, &cost, &use, 50 * MS, 150 * MS, false, second);
    /* Ten seconds have 50 ms. */
    const int64_t owed = pm_budget_owed(&budget, 10 * second);
    assert_in_range(owed, 50 * MS, 50 * MS + TIMING);
    pm_budget_finish(&budget);

    pm_budget_init(&budget, 0.005, (int64_t[PM_OWED_BY]){owed}, 0);
    cost = (struct pm_trial_cost){0};
    assert_true(pm_budget_begin(&budget, &cost, 9 * second) < 0);
    assert_int_equal(pm_budget_owed(&budget, 9 * second), owed - 45 * MS);
    assert_true(pm_budget_begin(&budget, &cost, 11 * second) >= 0);
    pm_budget_finish(&budget);

    /* Where there is no limit nothing is owed. */
    budget = budget_of(1);
    cost = (struct pm_trial_cost){0};
    use = (struct pm_use_cost){0};
    one_pair(&budget, &cost, &use, 50 * MS, 150 * MS, false, 0);
    assert_int_equal(pm_budget_owed(&budget, 0), 0);
    pm_budget_finish(&budget);
}

enum { MOST_TRIALS = 4 };

/* Trials that take so long, and in which order they ask in each frame, by their place; -1: the end.
 */
struct asking {
    int64_t takes[MOST_TRIALS];
    int order[8];
};

/* Frames of 10 ms, in each of which trials ask for pairs, 0.3 ms after one another. How many each
 * has of so many seconds; and at the end of each frame no more was spent than the share. */
static void pairs_of(const struct asking *asking, int seconds, uint32_t *pairs)
{
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost costs[MOST_TRIALS] = {{0}};
    pm_budget_frames(&budget, 100, second);
    for (int t = 0; t < MOST_TRIALS; t++) {
        costs[t].expected = asking->takes[t];
        pairs[t] = 0;
    }
    for (int i = 0; i < 100 * seconds; i++) {
        int64_t now = i * second / 100;
        for (const int *t = asking->order; *t >= 0; t++, now += 3 * MS / 10)
            pairs[*t] += pm_budget_begin(&budget, &costs[*t], now) >= 0;
        assert_true(pm_budget_spent(&budget, now) <= 0.005);
    }
    pm_budget_finish(&budget);
}

/* Nobody begins what is not there, and who needs more than a second's share has it after a while,
 * whatever others ask for. */
static void a_pair_begins_when_it_fits(void **state)
{
    (void)state;
    uint32_t pairs[MOST_TRIALS];
    /* A minute has 300 ms. */
    pairs_of(&(struct asking){{40 * MS}, {0, -1}}, 60, pairs);
    assert_int_equal(pairs[0], 7);
    pairs_of(&(struct asking){{MS, 40 * MS}, {0, 1, -1}}, 60, pairs);
    print_message("1 ms: %u pairs; 40 ms: %u\n", pairs[0], pairs[1]);
    assert_true(pairs[0] >= 100 && pairs[1] >= 3);
    pairs_of(&(struct asking){{40 * MS, 15 * MS, MS}, {0, 1, 2, -1}}, 60, pairs);
    print_message("40 ms: %u pairs; 15 ms: %u; 1 ms: %u\n", pairs[0], pairs[1], pairs[2]);
    assert_true(pairs[0] >= 2 && pairs[1] >= 2 && pairs[2] >= 100);
}

/* It is the turn of who was refused first, in whatever order they ask and however often. Half of
 * ten minutes has 1,500 ms. */
static void first_refused_is_first_served(void **state)
{
    (void)state;
    uint32_t pairs[MOST_TRIALS];
    static const int64_t shorter[] = {MS / 16, MS / 5, MS, 3 * MS};
    for (int i = 0; i < 4; i++) {
        pairs_of(&(struct asking){{shorter[i], shorter[i], 8 * MS}, {0, 1, 0, 1, 2, -1}}, 600,
                 pairs);
        print_message("twice a frame %.2f ms: %u and %u pairs; once 8 ms: %u\n",
                      (double)shorter[i] / MS, pairs[0], pairs[1], pairs[2]);
        assert_true(pairs[0] > 150 && pairs[1] > 150 && pairs[2] > 150);
    }
    pairs_of(&(struct asking){{8 * MS, 20 * MS, 40 * MS, 3 * MS / 10}, {2, 1, 0, 3, 2, 1, 0, -1}},
             600, pairs);
    print_message("8 ms: %u pairs; 20 ms: %u; 40 ms: %u; 0.3 ms: %u\n", pairs[0], pairs[1],
                  pairs[2], pairs[3]);
    for (int i = 0; i < 3; i++)
        assert_in_range(pairs[i], 19, 23);
    assert_true(pairs[3] > 4000);
}

/* While something is owed nobody may begin, and who still asks keeps what was saved for it. */
static void what_is_owed_takes_no_savings(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost often = {.expected = MS / 2}, rare = {.expected = 20 * MS};
    struct pm_use_cost use = {0};
    const int64_t frame = second / 50;
    int64_t now = 0;
    bool began = false;
    for (int i = 1; !began; i++) {
        assert_true(i < 600 * 50);
        now = i * frame;
        pm_budget_begin(&budget, &often, now);
        /* 20 ms more than there are, and 14 are saved by now. */
        if (i == 6 * 50)
            pm_budget_settle(&budget, &often, &use, (double[]){5 * MS, 25 * MS}, PM_STANDS_OWN, 0);
        began = pm_budget_begin(&budget, &rare, now) >= 0;
    }
    print_message("after %.1f s %.4f %% are spent\n", (double)now / 1e9,
                  100 * pm_budget_spent(&budget, now));
    assert_true(pm_budget_spent(&budget, now) > 0.95 * 0.005);
    pm_budget_finish(&budget);
}

/* In 256 of 1,024 frames only glances ask, which find too little: what was saved is still there
 * behind them. */
static void glances_turns_take_no_savings(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost shorter = {.expected = 3 * MS / 10}, longer = {.expected = 60 * MS},
                         glance = {.expected = 17 * MS};
    uint32_t pairs = 0, glances = 0;
    for (int i = 1; i < 600 * 60; i++) {
        const int64_t now = i * (second / 60);
        if (i % 64 == 0) {
            pm_budget_frames(&budget, 64, now);
            glances += pm_budget_begin(&budget, &glance, now) >= 0;
        }
        if (i / 256 % 4 == 0)
            continue;
        pm_budget_begin(&budget, &shorter, now);
        pairs += pm_budget_begin(&budget, &longer, now) >= 0;
    }
    print_message("60 ms: %u pairs; glances: %u\n", pairs, glances);
    assert_true(pairs >= 15 && glances >= 15);
    pm_budget_finish(&budget);
}

/* What a trial's pairs take that has had one is known, and what first ones take is no more than a
 * slow frame. */
static void others_are_no_measure_of_what_is_known(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(1);
    struct pm_trial_cost slow = {0}, known = {0}, slower = {0}, faster = {0}, unknown = {0};
    struct pm_use_cost uses[4] = {{0}};
    one_pair(&budget, &known, &uses[0], MS, 2 * MS, PM_STANDS_OWN, second);
    one_pair(&budget, &slow, &uses[1], 10 * MS, 40 * MS, PM_STANDS_OWN, second);
    assert_int_equal(pm_budget_begin(&budget, &known, second), 2 * MS + TIMING);
    assert_in_range(pm_budget_begin(&budget, &unknown, second), 30 * MS, 30 * MS + 2 * TIMING);
    assert_in_range(pm_budget_begin(&budget, &slow, second), 30 * MS, 30 * MS + 2 * TIMING);
    one_pair(&budget, &faster, &uses[3], 2 * MS, MS, PM_STANDS_OWN, second);
    assert_int_equal(pm_budget_begin(&budget, &faster, second), 2 * MS + TIMING);
    one_pair(&budget, &slower, &uses[2], 500 * MS, 1000 * MS, PM_STANDS_OWN, second);
    assert_int_equal(pm_budget_begin(&budget, &unknown, second), 50 * MS);
    assert_in_range(pm_budget_begin(&budget, &slower, second), 500 * MS, 500 * MS + 2 * TIMING);
    pm_budget_finish(&budget);

    /* Nor is more kept for them. */
    budget = budget_of(0.005);
    slow = (struct pm_trial_cost){0};
    uses[0] = (struct pm_use_cost){0};
    pm_budget_settle(&budget, &slow, &uses[0], (double[]){10 * MS, 40 * MS}, PM_STANDS_OWN, 0);
    known = (struct pm_trial_cost){.expected = MS};
    assert_int_equal(pairs_at(&budget, &known, 1000 * second), 5);
    pm_budget_finish(&budget);
}

/* Who was refused needs no lock to know that there is still too little, but anybody else is heard,
 * and it is as soon as something is given back. */
static void who_was_refused_rests(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost waits = {.expected = 8 * MS}, other = {.expected = MS};
    assert_true(pm_budget_begin(&budget, &waits, second / 10) < 0);
    pthread_mutex_lock(&budget.lock);
    assert_int_equal(pm_budget_begin(&budget, &waits, second / 5), PM_BUDGET_SPENT);
    assert_int_equal(pm_budget_begin(&budget, &other, second / 5), PM_BUDGET_HELD);
    pthread_mutex_unlock(&budget.lock);
    pm_budget_return(&budget, 8 * MS);
    assert_true(pm_budget_begin(&budget, &waits, second / 5) >= 0);
    pm_budget_finish(&budget);
}

/* What was saved for a trial that does not come again is another's. */
static void who_goes_leaves_what_it_saved(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost gone = {.expected = 40 * MS}, stays = {.expected = 20 * MS};
    assert_true(pm_budget_begin(&budget, &gone, 0) < 0);
    for (int i = 1; i < 10; i++)
        assert_true(pm_budget_begin(&budget, &stays, i * second / 10) < 0);
    assert_true(pm_budget_begin(&budget, &stays, 3 * second) < 0);
    assert_true(pm_budget_begin(&budget, &stays, 4 * second + MS) >= 0);
    pm_budget_finish(&budget);
}

/* Both sides of a pair take longer than what was made of the variant, which is bound otherwise. */
static void a_surpassed_variant_costs_all_that_it_takes(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost cost = {0};
    struct pm_use_cost use = {0};
    known_pairs(&budget, &cost, &use, MS, MS - 30000, PM_STANDS_VARIANT);
    assert_in_range(cost.expected, 30000 + TIMING - 1, 30000 + TIMING + 1);
    known_pairs(&budget, &cost, &use, MS, MS - 30000, PM_STANDS_FASTER);
    assert_in_range(cost.expected, 2 * MS - 30000 + TIMING - 1, 2 * MS - 30000 + TIMING + 1);
    pm_budget_finish(&budget);
}

/* Pairs go on with half of the share, and other sessions wait. */
static void what_sessions_owe_is_of_its_own(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    struct pm_trial_cost cost = {.expected = 1 * MS};
    pm_budget_charge_session(&budget, 20 * second, 0);
    assert_true(pm_budget_owes(&budget, 0));
    assert_int_equal(pm_budget_owed(&budget, 0), 0);
    assert_int_equal(pairs_at(&budget, &cost, second), 2);
    assert_true(pm_budget_begin(&budget, &cost, second + second / 10) < 0);
    assert_true(pm_budget_begin(&budget, &cost, 2 * second) >= 0);
    /* 20 s are what 4,000 s have, and twice as many by halves. */
    assert_true(pm_budget_owes(&budget, 7990 * second));
    assert_false(pm_budget_owes(&budget, 8000 * second));
    const struct pm_spent_over_sessions spent = pm_budget_over_sessions(&budget, 8000 * second);
    assert_int_equal(spent.more, 20 * second);
    assert_in_range(spent.paid, 20 * second - 5 * MS, 20 * second);
    pm_budget_finish(&budget);
}

/* Nobody waits for what is as often a little faster as a little slower. */
static void what_makes_no_difference_owes_little(void **state)
{
    (void)state;
    struct pm_budget budget = budget_of(0.005);
    for (int i = 0; i < 64; i++)
        pm_budget_charge_session(&budget, (i % 2 == 0 ? -20 : 20) * second, 3600 * second * i);
    assert_false(pm_budget_owes(&budget, 3600 * second * 63));
    /* What was saved is no credit without an end. */
    pm_budget_charge_session(&budget, -100000 * second, 3600 * second * 64);
    pm_budget_charge_session(&budget, 61 * second, 3600 * second * 64);
    assert_true(pm_budget_owes(&budget, 3600 * second * 64));
    pm_budget_finish(&budget);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_under_way_count),
        cmocka_unit_test(a_pair_begins_when_it_fits),
        cmocka_unit_test(first_refused_is_first_served),
        cmocka_unit_test(what_is_owed_takes_no_savings),
        cmocka_unit_test(glances_turns_take_no_savings),
        cmocka_unit_test(others_are_no_measure_of_what_is_known),
        cmocka_unit_test(who_was_refused_rests),
        cmocka_unit_test(who_goes_leaves_what_it_saved),
        cmocka_unit_test(what_is_owed_is_paid_later),
        cmocka_unit_test(what_sessions_owe_is_of_its_own),
        cmocka_unit_test(what_makes_no_difference_owes_little),
        cmocka_unit_test(an_unknown_pair_is_a_frame),
        cmocka_unit_test(what_is_used_is_compared_with),
        cmocka_unit_test(is_not_saved_for_long),
        cmocka_unit_test(spikes_weigh_little),
        cmocka_unit_test(chance_takes_nothing_of_the_share),
        cmocka_unit_test(what_was_saved_begins_no_pairs),
        cmocka_unit_test(what_was_saved_pays_no_slow_trial),
        cmocka_unit_test(who_records_does_not_wait),
        cmocka_unit_test(a_surpassed_variant_costs_all_that_it_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
