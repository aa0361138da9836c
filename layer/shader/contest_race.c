#include "layer/shader/contest_race.h"

#include "base/random.h"
#include "profile/machine_lot.h"
#include "profile/variant_point.h"
#include <string.h>

/* ---- points and recipes ---- */

static struct pm_variant_recipe named(const struct pm_recipe *recipe)
{
    for (uint32_t i = 0; i < pm_recipe_count(); i++)
        if (pm_recipe_at(i) == recipe)
            return (struct pm_variant_recipe){i + 1, recipe->version};
    return (struct pm_variant_recipe){0};
}

/* Of what has three parts, which none has, without the last. */
static struct pm_variant_id id_of(const struct pm_variant_choice *choice)
{
    struct pm_variant_recipe parts[3] = {0};
    uint32_t count = 0;
    if (choice->recipe)
        parts[count++] = named(choice->recipe);
    if (choice->second)
        parts[count++] = named(choice->second);
    if (choice->subgroup_size)
        parts[count++] = pm_variant_subgroup(choice->subgroup_size);
    return (struct pm_variant_id){parts[0], parts[1]};
}

/* 0: it has none. */
static uint32_t point_of(const struct pm_variant_choice *choice)
{
    const struct pm_variant_id id = id_of(choice);
    uint32_t point;
    /* What comes of it depends on this machine's profile. */
    if (pm_variant_needs_blocks(choice) ||
        (choice->recipe && choice->second && choice->subgroup_size))
        return 0;
    return pm_variant_point(&id, &point) ? point : 0;
}

uint32_t pm_contest_rank(const struct pm_variant_choice *choice)
{
    const struct pm_variant_id id = id_of(choice);
    return pm_variant_rank(&id);
}

uint32_t pm_contest_point(const struct pm_arm *arm)
{
    return arm->shader && arm->shader->base ? 0 : point_of(&arm->choice);
}

/* false: nothing here makes it. sizes: the subgroup sizes that may be required, as bits. */
static bool add_part(const struct pm_variant_recipe *name, uint32_t sizes,
                     struct pm_variant_choice *choice)
{
    const uint32_t size = pm_variant_subgroup_size(name);
    const struct pm_recipe *recipe = name->number > 0 ? pm_recipe_at(name->number - 1) : NULL;
    if (choice->subgroup_size)
        return false; /* it comes last */
    if (size != 0) {
        choice->subgroup_size = size;
        return (sizes & size) != 0;
    }
    if (!recipe || recipe->version != name->version ||
        pm_variant_needs_blocks(&(struct pm_variant_choice){.recipe = recipe}))
        return false;
    *(choice->recipe ? &choice->second : &choice->recipe) = recipe;
    return true;
}

static bool choice_of(uint32_t point, uint32_t sizes, struct pm_variant_choice *choice)
{
    struct pm_variant_id id;
    *choice = (struct pm_variant_choice){0};
    return pm_variant_id_of(point, &id) && add_part(&id.first, sizes, choice) &&
           (id.second.number == 0 || add_part(&id.second, sizes, choice));
}

/* ---- who takes part ---- */

/* The next of all that there are by themselves: the recipes, then the canonical module with each
 * of the sizes. false: there is none. */
static bool next_of_all(uint32_t *at, uint32_t *sizes, struct pm_variant_choice *choice)
{
    *choice = (struct pm_variant_choice){.recipe = pm_recipe_at(*at)};
    if (*at < pm_recipe_count()) {
        ++*at;
        return true;
    }
    choice->subgroup_size = *sizes & -*sizes;
    *sizes &= *sizes - 1;
    return choice->subgroup_size != 0;
}

static void take(struct pm_contest *contest, const struct pm_variant_choice *choice)
{
    const uint32_t at = contest->halving.count;
    if (pm_halving_add(&contest->halving, 1) == 0)
        return;
    contest->arms[at].choice = *choice;
    contest->halving.rank[at] = pm_contest_rank(choice);
}

static void take_all(struct pm_contest *contest, uint32_t sizes)
{
    struct pm_variant_choice choice;
    pm_halving_init(&contest->halving, 0);
    for (uint32_t at = 0; next_of_all(&at, &sizes, &choice);)
        take(contest, &choice);
}

/* The same of what there is anything of for the shader, and what an earlier session of this machine
 * has not left; what that measured counts. false: it takes no part. */
static bool take_made(struct pm_contest *contest, const struct pm_variant_choice *choice)
{
    const uint32_t at = contest->halving.count;
    take(contest, choice);
    if (contest->halving.count > at && pm_contest_make(contest, at))
        return true;
    contest->halving.count = at;
    contest->arms[at] = (struct pm_arm){0};
    return false;
}

static bool take_winner(struct pm_contest *contest, const struct pm_race *race, uint32_t sizes)
{
    struct pm_variant_choice choice;
    pm_halving_init(&contest->halving, 0);
    return choice_of(race->winner, sizes, &choice) && take_made(contest, &choice);
}

enum { MOST_LOTS = PM_HALVING_MOST + 128 /* of a race */ };

struct lots {
    struct pm_variant_choice choices[MOST_LOTS];
    double shares[MOST_LOTS];
    uint32_t count;
};

static void add_lot(struct lots *lots, const struct pm_variant_choice *choice, double share)
{
    if (lots->count == MOST_LOTS)
        return;
    lots->choices[lots->count] = *choice;
    lots->shares[lots->count++] = share;
}

/* What no race speaks of. */
static void find_lots_alone(struct lots *lots)
{
    lots->count = 0;
    for (uint32_t r = 0; r < pm_recipe_count(); r++) {
        const struct pm_variant_choice choice = {.recipe = pm_recipe_at(r)};
        if (point_of(&choice) == 0)
            add_lot(lots, &choice, 1);
    }
}

/* What the race does not speak of yet is asked for as much as all else on average. */
static void find_lots(struct lots *lots, const struct pm_race *race, uint32_t sizes)
{
    struct pm_variant_choice choice;
    uint32_t left = sizes;
    lots->count = 0;
    for (uint32_t at = 0; next_of_all(&at, &left, &choice);)
        if (point_of(&choice) != 0 && !pm_race_find_variant(race, point_of(&choice)))
            add_lot(lots, &choice, 1.0 / (double)(race->variant_count + 1));
    for (size_t i = 0; i < race->variant_count; i++)
        if (!race->variants[i].lost && choice_of(race->variants[i].point, sizes, &choice))
            add_lot(lots, &choice, race->variants[i].share);
}

/* Without those that were drawn before. */
static uint32_t draw(const struct lots *lots, struct pm_random *random)
{
    double all = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < lots->count; i++)
        all += lots->shares[i];
    double at = all * pm_random_unit(random);
    for (uint32_t i = 0; i < lots->count; i++) {
        if (!(lots->shares[i] > 0))
            continue;
        last = i;
        if ((at -= lots->shares[i]) < 0)
            break;
    }
    return last;
}

/* Up to so many of which there is anything for the shader, each once. */
static void take_lots(struct pm_contest *contest, struct lots *lots, uint32_t most,
                      struct pm_random *random)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < lots->count && taken < most; i++) {
        const uint32_t at = draw(lots, random);
        taken += take_made(contest, &lots->choices[at]);
        lots->shares[at] = 0;
    }
}

/* The same as long as the race says the same, so that what a session began the next one ends. */
static void take_drawn(struct pm_contest *contest, const struct pm_race *race, uint64_t lot,
                       uint32_t sizes)
{
    struct pm_random random;
    struct lots lots;
    uint64_t key;
    memcpy(&key, race->key.bytes, sizeof key);
    pm_random_init(&random, pm_random_mix(lot ^ race->as_of_day) ^ key);
    find_lots(&lots, race, sizes);
    pm_halving_init(&contest->halving, 0);
    take_lots(contest, &lots, PM_CONTEST_DRAWN, &random);
    find_lots_alone(&lots);
    take_lots(contest, &lots, PM_CONTEST_ALONE, &random);
    for (uint32_t a = 0; race->winner != 0 && a < contest->halving.count; a++)
        if (pm_contest_point(&contest->arms[a]) == race->winner)
            contest->halving.rank[a] = PM_CONTEST_KNOWN;
}

static void say(const struct pm_contest *contest, const struct pm_device *device, const char *what)
{
    char of[PM_CONTEST_NAME];
    pm_contest_name(contest, of);
    pm_log_debug(device->instance->log, "%s: %s", of, what);
}

void pm_contest_field(struct pm_contest *contest, struct pm_device *device,
                      const struct pm_environment *environment, uint32_t sizes)
{
    const struct pm_config *config = &device->instance->config;
    const struct pm_shader_key *key = &contest->record->key;
    const struct pm_race *race =
        contest->base ? NULL : pm_races_find(&device->instance->races, key, environment);
    const uint64_t lot = config->sampler.seed_set ? config->sampler.seed
                         : race                   ? pm_machine_lot(NULL)
                                                  : 0;
    if (!race || pm_lot_falls(lot, key, config->optimize.doubt_share)) {
        take_all(contest, sizes);
        return;
    }
    if (race->winner != 0 && !pm_lot_falls(lot, key, PM_CONTEST_EXPLORE) &&
        take_winner(contest, race, sizes)) {
        say(contest, device, "what others found fastest is tried first");
        return;
    }
    take_drawn(contest, race, lot, sizes);
    say(contest, device, "variants are drawn by what others ask for");
}
