#include "layer/shader/specialized_kept.h"

#include "base/clock.h"
#include "base/random.h"
#include "layer/core/session.h"
#include "profile/machine_lot.h"
#include "profile/verdicts.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Static_assert((int)PM_KEPT_RECIPE_BYTES == (int)PM_VARIANT_NAME, "a kept name fits");
_Static_assert((int)PM_KEPT_PUSHED == (int)PM_WATCHED_MOST, "what is watched fits");

enum { SAVE_SECONDS = 10 /* at least, between two */ };

struct pm_specialized_kept {
    struct pm_device *device;
    struct pm_verdicts *verdicts; /* the instance's; NULL: there are none */
    struct pm_words_store *words; /* NULL: nothing can be made again */
    uint64_t options;
    uint64_t lot;              /* which verdicts this session tries again */
    uint64_t order;            /* which side of a pair of sessions comes first; the machine's */
    bool any;                  /* that may be made again */
    struct pm_at_once_sum sum; /* of those that were found faster */
    _Atomic bool tidy;         /* the words are due */
    _Atomic int64_t saved_at;  /* pm_now(); 0: never */
};

/* All but the shader, the driver and the layer that a specialized module depends on. Which
 * estimates it was made by is not among it: they can cost speed, and its speed is known. */
static uint64_t options_of(const struct pm_device *device)
{
    const struct pm_config *config = &device->instance->config;
    const uint32_t options[] = {
        (uint32_t)config->optimize.float_zero,
        (uint32_t)config->debug.specialize,
        (uint32_t)config->debug.beyond,
        device->abilities.subgroup_quad,
        config->debug.slow_variants | (uint32_t)config->debug.slow_guards << 1 |
            (uint32_t)(config->debug.slow_from > 0) << 2,
        (uint32_t)(config->optimize.uniform_share * 1e6),
        config->optimize.block_passes,
        pm_target_bits(&device->abilities.target),
    };
    uint64_t mixed = 1;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        mixed = pm_random_mix(mixed + options[i]);
    return mixed;
}

/* With what was known of the shader, whether it was made for known words, and which may be. */
static uint64_t options_with(const struct pm_specialized_kept *kept, uint32_t of, bool is_private,
                             enum pm_uniform_reads reads)
{
    const uint64_t words = is_private ? 1 + 16 * (uint64_t)reads : 0;
    return pm_random_mix(kept->options + 2 * (uint64_t)of + words);
}

/* The same of one for values of push constants. */
static uint64_t options_pushed(const struct pm_specialized_kept *kept, uint32_t of)
{
    return pm_random_mix(kept->options + 2 * (uint64_t)of + (UINT64_C(1) << 32));
}

struct pm_specialized_kept *pm_specialized_kept_create(struct pm_device *device)
{
    struct pm_specialized_kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    const struct pm_config *config = &device->instance->config;
    const struct pm_environment plain = pm_session_device_environment(device);
    const struct pm_environment environment = pm_session_environment(device, &plain);
    kept->device = device;
    kept->verdicts = pm_session_verdicts(device->instance);
    kept->words = pm_words_store_open(NULL, (uint64_t)config->limits.shader_store_mib << 20);
    kept->options = options_of(device);
    kept->any = kept->words && (pm_verdicts_any_at_once(kept->verdicts, &environment) ||
                                device->instance->signed_verdicts.count > 0);
    if (kept->any)
        kept->sum = pm_verdicts_sum_at_once(kept->verdicts, &environment, time(NULL),
                                            config->optimize.agreeing_sessions);
    kept->lot = pm_session_seed(device->instance);
    if (kept->any)
        kept->order = config->sampler.seed_set ? config->sampler.seed : pm_machine_lot(NULL);
    return kept;
}

void pm_specialized_kept_destroy(struct pm_specialized_kept *kept)
{
    if (!kept)
        return;
    atomic_store(&kept->saved_at, 0);
    pm_specialized_kept_save(kept);
    pm_words_store_close(kept->words);
    free(kept);
}

/* Whether anything is tried: not where what there is is to be used as it is. */
static bool tries(const struct pm_specialized_kept *kept)
{
    return kept->device->trials && !kept->device->instance->config.debug.trust_variants;
}

/* Whether this session tries a faster one again: too few sessions did or they do not agree, or by
 * lot. */
static bool is_tried_again(const struct pm_specialized_kept *kept,
                           const struct pm_kept_variant *variant)
{
    const struct pm_config *config = &kept->device->instance->config;
    return tries(kept) && (!pm_kept_is_sure(variant, config->optimize.agreeing_sessions) ||
                           pm_lot_falls(kept->lot, &variant->key, config->optimize.retry_share));
}

bool pm_specialized_kept_doubts(const struct pm_specialized_kept *kept,
                                const struct pm_shader_key *key)
{
    const struct pm_config *config = &kept->device->instance->config;
    return kept->device->trials &&
           pm_lot_falls(config->sampler.seed_set ? config->sampler.seed : pm_machine_lot(NULL), key,
                        config->optimize.doubt_share);
}

bool pm_specialized_kept_timing(struct pm_specialized_kept *kept,
                                const struct pm_specialized_shader *shader,
                                enum pm_timing_verdict *timing)
{
    struct pm_kept_variant variant;
    const struct pm_environment environment =
        pm_session_environment(kept->device, &shader->environment);
    if (!pm_verdicts_find(kept->verdicts, &shader->key, pm_specialized_from(shader), &environment,
                          &variant))
        return false;
    switch (pm_kept_verdict(&variant, time(NULL))) {
    case PM_VERDICT_NONE:
        return false;
    case PM_VERDICT_FASTER:
        *timing = is_tried_again(kept, &variant) ? PM_TIMING_UNDECIDED : PM_TIMING_FASTER;
        return true;
    default:
        *timing = PM_TIMING_SLOWER;
        return true;
    }
}

/* ---- how they are made ---- */

static bool is_one_word(const char *name)
{
    const size_t length = strlen(name);
    bool word = length > 0 && length < PM_KEPT_NAME_BYTES;
    for (size_t i = 0; word && i < length; i++)
        word = (unsigned char)name[i] > ' ' && (unsigned char)name[i] < 0x7f;
    return word;
}

static struct pm_kept_variant describe(const struct pm_specialized_kept *kept,
                                       const struct pm_specialized_shader *shader, int64_t took)
{
    const struct pm_words *words = &shader->module.words;
    struct pm_kept_variant variant = {
        .key = shader->key,
        .original = *pm_specialized_from(shader),
        .environment = pm_session_environment(kept->device, &shader->environment),
        .used_at = time(NULL),
        .made = {.options = shader->is_pushed ? options_pushed(kept, shader->made_of)
                                              : options_with(kept, shader->made_of,
                                                             shader->is_private, shader->reads),
                 .hash = pm_words_hash_compute(words->data, words->count),
                 .count = (uint32_t)words->count,
                 .took = (uint64_t)took,
                 .by = shader->made_by},
    };
    memcpy(variant.made.entry_point, shader->entry_point, strlen(shader->entry_point) + 1);
    memcpy(variant.made.recipe, shader->recipe, sizeof shader->recipe);
    for (uint32_t i = 0; shader->is_pushed && i < shader->known.count && i < PM_KEPT_PUSHED; i++) {
        variant.made.pushed[i].word = shader->known.words[i].point.offset / 4;
        variant.made.pushed[i].value = shader->known.words[i].value;
        variant.made.pushed_count = i + 1;
    }
    return variant;
}

void pm_specialized_kept_took(struct pm_specialized_kept *kept,
                              const struct pm_specialized_shader *shader, int64_t took)
{
    if (!kept->words || !is_one_word(shader->entry_point))
        return;
    const struct pm_kept_variant variant = describe(kept, shader, took);
    pm_verdicts_put_made(kept->verdicts, &variant);
}

void pm_specialized_kept_made(struct pm_specialized_kept *kept,
                              const struct pm_specialized_shader *shader, int64_t took)
{
    const struct pm_words *words = &shader->module.words;
    bool due = false;
    if (!kept->words || !kept->verdicts || !is_one_word(shader->entry_point))
        return;
    const struct pm_words_hash hash = pm_words_hash_compute(words->data, words->count);
    if (!pm_words_store_keep(kept->words, &hash, words->data, words->count, &due, NULL))
        return;
    if (due)
        atomic_store(&kept->tidy, true);
    pm_specialized_kept_took(kept, shader, took);
}

void pm_specialized_kept_save(struct pm_specialized_kept *kept)
{
    struct pm_error error = {0};
    const int64_t now = pm_now(), saved_at = atomic_load(&kept->saved_at);
    if (saved_at != 0 && now - saved_at < SAVE_SECONDS * PM_SECOND)
        return;
    atomic_store(&kept->saved_at, now);
    if (atomic_exchange(&kept->tidy, false))
        pm_words_store_tidy(kept->words);
    if (!pm_verdicts_save(kept->verdicts, &error))
        pm_log_info(kept->device->instance->log, "verdicts are not kept: %s", error.message);
}

bool pm_specialized_kept_any(const struct pm_specialized_kept *kept)
{
    return kept->any;
}

/* The subgroup size that a kept variant's pipelines require; 0: none. */
static uint32_t size_of(const struct pm_kept_variant *variant)
{
    struct pm_variant_choice choice;
    return pm_variant_parse(variant->made.recipe, &choice) ? choice.subgroup_size : 0;
}

/* The words of a variant; malloc'ed. false: they are not there any more, or not as they were. */
static bool read_words(const struct pm_specialized_kept *kept,
                       const struct pm_kept_variant *variant, struct pm_words *words)
{
    *words = (struct pm_words){malloc(variant->made.count * sizeof(uint32_t)), variant->made.count};
    if (words->data &&
        pm_words_store_read(kept->words, &variant->made.hash, words->data, words->count, NULL)) {
        const struct pm_shader_key key = pm_specialized_key(words, size_of(variant));
        if (pm_shader_key_equal(&key, &variant->key))
            return true;
    }
    pm_words_finish(words);
    return false;
}

/* The other one than a session that waits for it had, else by lot. A pair's lot is drawn once, so
 * that a variant that waits makes neither order likelier. */
static bool is_of_variant(const struct pm_specialized_kept *kept,
                          const struct pm_kept_variant *variant, int64_t now)
{
    uint64_t of_key;
    memcpy(&of_key, variant->key.bytes, sizeof of_key);
    if (pm_session_half_waits(&variant->sessions.half, now))
        return !variant->sessions.half.variant;
    const uint64_t of_trial = kept->order + of_key + (uint64_t)variant->decided_at;
    return (pm_random_mix(of_trial + variant->sessions.count) & 1) != 0;
}

/* What a use takes, on average. */
static uint64_t time_of(const struct pm_session_half *half)
{
    uint64_t sum = 0, count = 0;
    for (int i = 0; i < PM_SESSION_USES; i++) {
        sum += half->nanoseconds[i];
        count += half->nanoseconds[i] > 0;
    }
    return count > 0 ? sum / count : 0;
}

/* Before anybody draws with an untried variant it is known what the original takes. The variant may
 * have to wait: with the original as the other half, timed once more, where that waits. */
static enum pm_session_side side_of(const struct pm_specialized_kept *kept,
                                    const struct pm_kept_variant *variant, int64_t now,
                                    struct pm_session_part *part)
{
    const struct pm_session_half *own = &variant->sessions.own;
    const bool known = pm_session_half_waits(own, now);
    *part = (struct pm_session_part){.otherwise = PM_SESSION_NONE,
                                     .share = known ? own->share : 0,
                                     .time = known ? time_of(own) : 0};
    if (pm_kept_verdict(variant, now) == PM_VERDICT_FASTER)
        part->ratio = variant->ratio;
    if (!is_of_variant(kept, variant, now))
        return PM_SESSION_ORIGINAL;
    if (part->ratio > 0)
        return PM_SESSION_VARIANT;
    part->otherwise =
        pm_session_half_waits(&variant->sessions.half, now) ? PM_SESSION_ORIGINAL : PM_SESSION_LOOK;
    return known ? PM_SESSION_VARIANT : part->otherwise;
}

/* Whether a faster one has a trial all the same: too few sessions agree, by lot, or as the other
 * side of a session that the lot fell on. */
static bool is_tried_now(const struct pm_specialized_kept *kept,
                         const struct pm_kept_variant *variant, int64_t now)
{
    return is_tried_again(kept, variant) || (tries(kept) && variant->sessions.wanted &&
                                             pm_session_half_waits(&variant->sessions.half, now));
}

/* What is to be done with the variant of an original that was made with these options. */
struct chosen {
    struct pm_kept_variant variant;
    bool faster;  /* used without a trial */
    bool session; /* part of a trial over sessions */
    bool again;   /* a recipe's, which nothing else would make: tried once more */
};

/* plain: the environment as verdicts name it that an operator signed. */
static bool choose(const struct pm_specialized_kept *kept, const struct pm_shader_key *original,
                   const struct pm_environment *plain, uint64_t options, int64_t now,
                   struct chosen *chosen)
{
    struct pm_kept_variant *variant = &chosen->variant;
    const struct pm_environment by = pm_session_environment(kept->device, plain),
                                *environment = &by;
    const bool known =
        pm_verdicts_find_faster(kept->verdicts, original, environment, options, now,
                                kept->device->instance->config.optimize.agreeing_sessions, variant);
    chosen->faster = known && !is_tried_now(kept, variant, now);
    /* As good as a verdict of this machine's own, where that has none. */
    if (!known && pm_verdicts_find_signed(kept->verdicts, &kept->device->instance->signed_verdicts,
                                          plain, original, environment, options, now, variant)) {
        chosen->faster = true;
        chosen->session = chosen->again = false;
        return true;
    }
    chosen->session =
        tries(kept) && (known ? !chosen->faster && variant->sessions.wanted
                              : pm_verdicts_find_session(kept->verdicts, original, environment,
                                                         options, now, variant));
    chosen->again = known && !chosen->faster && !chosen->session && *variant->made.recipe;
    return chosen->faster || chosen->session || chosen->again;
}

/* What it runs with, as it was made. */
static void take_pushed(const struct pm_kept_variant *variant, struct pm_specialized_shader *shader)
{
    for (uint32_t i = 0; i < variant->made.pushed_count; i++) {
        shader->known.words[i].point.offset = 4 * variant->made.pushed[i].word;
        shader->known.words[i].value = variant->made.pushed[i].value;
    }
    shader->known.count = variant->made.pushed_count;
    shader->is_pushed = shader->known.count > 0;
}

/* What this machine has no verdict on is tried over sessions, or an operator has signed it. */
static struct pm_making_cost cost_of(const struct pm_specialized_kept *kept,
                                     const struct pm_kept_variant *variant)
{
    const struct pm_config *config = &kept->device->instance->config;
    return (struct pm_making_cost){
        .took = (int64_t)variant->made.took,
        .worth = pm_kept_verdict(variant, time(NULL)) != PM_VERDICT_FASTER ||
                 pm_kept_is_worth(variant, &kept->sum, config->limits.loading_ms * 1e6),
    };
}

int64_t pm_specialized_kept_take(const struct pm_specialized_kept *kept)
{
    return (int64_t)kept->sum.took;
}

bool pm_specialized_kept_load(struct pm_specialized_kept *kept,
                              const struct pm_shader_key *original,
                              const struct pm_environment *environment, enum pm_specialized_use use,
                              enum pm_uniform_reads reads, uint32_t of,
                              struct pm_specialized_shader *shader, struct pm_making_cost *cost)
{
    struct chosen chosen;
    struct pm_words words;
    const int64_t now = time(NULL);
    const bool pushed = use == PM_USE_PUSHED;
    bool is_private = pushed || (of & PM_KNOWN_VALUES) != 0;
    bool found =
        choose(kept, original, environment,
               pushed ? options_pushed(kept, of) : options_with(kept, of, is_private, reads), now,
               &chosen);
    if (!found && is_private && !pushed) {
        is_private = false;
        found =
            choose(kept, original, environment, options_with(kept, of, false, reads), now, &chosen);
    }
    /* A recipe's was proven under a setting that may be off by now. */
    if (!found || (chosen.variant.made.pushed_count > 0) != pushed ||
        (*chosen.variant.made.recipe && !pm_session_tests_variants(kept->device->instance)) ||
        !read_words(kept, &chosen.variant, &words))
        return false;
    char *entry_point = strdup(chosen.variant.made.entry_point);
    if (!entry_point) {
        pm_words_finish(&words);
        return false;
    }
    *shader = (struct pm_specialized_shader){
        .original = *original,
        .entry_point = entry_point,
        .key = chosen.variant.key,
        .environment = *environment,
        .module = {.words = words},
        .made_of = of,
        .made_by = chosen.variant.made.by,
        .is_private = is_private,
        .reads = reads,
        .timing = chosen.faster ? PM_TIMING_FASTER : PM_TIMING_UNDECIDED,
    };
    if (chosen.session)
        shader->session = side_of(kept, &chosen.variant, now, &shader->part);
    memcpy(shader->recipe, chosen.variant.made.recipe, sizeof shader->recipe);
    shader->subgroup_size = size_of(&chosen.variant);
    take_pushed(&chosen.variant, shader);
    *cost = cost_of(kept, &chosen.variant);
    return true;
}
