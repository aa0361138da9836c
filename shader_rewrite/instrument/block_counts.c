#include "shader_rewrite/instrument/block_counts.h"

#include "shader_rewrite/instrument/block_code.h"
#include "shader_rewrite/instrument/block_leaving.h"
#include "shader_rewrite/instrument/entry_counts.h"

#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/points/points.h"
#include <stdlib.h>

/* Over all places where lanes leave: of numbers in registers; of numbers of each lane, that take
 * three operations there; and of words of fields, of which there are not more than so many. */
enum { MOST_ADDITIONS = 256, MOST_TURNINGS = 48, MOST_FIELDS_ADDED = 64, MOST_FIELD_WORDS = 16 };

/* ---- what is added ---- */

/* An entry of a unit with so many lanes, which are not all. */
static void add_part(const struct pm_block_counts *c, uint32_t unit, struct pm_ir_def *lanes)
{
    const struct pm_counting_slot slot = c->slot;
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    if (c->layout.lanes_only) {
        pm_counting_add(counting, b, slot, units(c) + unit, lanes);
        return;
    }
    pm_counting_add(counting, b, slot, units(c) + unit, uint_of(c, 1));
    if (c->counts_lanes[unit])
        pm_counting_add(counting, b, slot, 3 * units(c) + unit, lanes);
}

/* An entry of a unit with so many lanes, whole or not. */
static void add_now(const struct pm_block_counts *c, uint32_t unit, struct pm_ir_def *whole,
                    struct pm_ir_def *lanes)
{
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    struct pm_ir_def *full = build_bool(c, SpvOpLogicalAnd, whole, c->is_full);
    struct pm_ir_def *first = build_select(c, full, uint_of(c, unit), uint_of(c, units(c) + unit));
    if (c->layout.lanes_only) {
        pm_counting_add_at(counting, b, c->slot, first,
                           build_select(c, full, uint_of(c, 1), lanes));
        return;
    }
    pm_counting_add_at(counting, b, c->slot, first, uint_of(c, 1));
    const bool all = c->counts_lanes[unit];
    struct pm_ir_def *more =
        all ? build_not(c, full) : build_bool(c, SpvOpLogicalNotEqual, whole, full);
    struct pm_ir_block *merge = pm_ir_build_if(b, more, true, NULL);
    struct pm_ir_def *second = uint_of(c, 2 * units(c) + unit);
    if (all)
        second = build_select(c, whole, second, uint_of(c, 3 * units(c) + unit));
    pm_counting_add_at(counting, b, c->slot, second, lanes);
    pm_ir_build_end_if(b, merge);
}

/* ---- registers ---- */

static void note_in(const struct pm_block_counts *c, struct pm_ir_def *variable, uint16_t opcode,
                    uint32_t value, struct pm_ir_def *whole)
{
    struct pm_ir_def *noted = uint_of(c, value);
    if (whole)
        noted = build_select(c, whole, noted, uint_of(c, 0));
    store(c, variable, build_uint(c, opcode, load(c, variable), noted));
}

/* An entry of a point is noted, where `whole`; NULL: always. */
static void note(const struct pm_block_counts *c, uint32_t index, struct pm_ir_def *whole)
{
    const uint32_t unit = unit_of(c, index);
    if (c->turns[unit])
        note_in(c, c->turns[unit], SpvOpIAdd, 1, whole);
    else
        note_in(c, c->marks[unit / PM_BLOCK_MARK_BITS], SpvOpBitwiseOr,
                UINT32_C(1) << unit % PM_BLOCK_MARK_BITS, whole);
}

/* An entry of each lane's own. */
static void note_own(const struct pm_block_counts *c, uint32_t unit)
{
    if (is_turning(c, unit))
        note_in(c, c->turns[unit], SpvOpIAdd, 1, NULL);
    else
        note_in(c, c->fields[unit / fields_in_word(c)], SpvOpBitwiseOr,
                UINT32_C(1) << unit % fields_in_word(c) * c->field_bits, NULL);
}

static bool leaves(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpReturn || instr->opcode == SpvOpKill ||
           instr->opcode == SpvOpTerminateInvocation ||
           instr->opcode == SpvOpDemoteToHelperInvocation;
}

/* Notes where lanes leave if there is room (NULL: counts), and whether they may as helpers. */
static void find_leaving(struct pm_block_counts *c, struct pm_block_leaving *places)
{
    c->place_count = 0;
    for (struct pm_ir_block *block = c->instrument->function->first_block; block;
         block = block->next)
        for (struct pm_ir_instr *i = block->body.first; i; i = i->next) {
            if (!leaves(i))
                continue;
            if (places)
                places[c->place_count] = (struct pm_block_leaving){
                    .at = i,
                    .with = c->company ? c->company->of_block[block->index] : PM_COMPANY_NONE,
                };
            c->place_count++;
            c->demotes |= i->opcode == SpvOpDemoteToHelperInvocation;
        }
}

static bool calls_none(const struct pm_ir_module *module)
{
    return module->first_function == module->last_function;
}

/* ---- at entry ---- */

static struct pm_ir_def *build_and(const struct pm_block_counts *c, struct pm_ir_def *x,
                                   struct pm_ir_def *y)
{
    const struct pm_ir_def *always = c->instrument->counting.true_constant;
    return !y || y == always ? x : !x || x == always ? y : build_bool(c, SpvOpLogicalAnd, x, y);
}

static bool make_registers(struct pm_block_counts *c)
{
    const struct pm_instrument_info *info = c->instrument->info;
    const uint32_t words = (items(c) + PM_BLOCK_MARK_BITS - 1) / PM_BLOCK_MARK_BITS;
    const uint32_t field_words = c->field_count ? c->field_count / fields_in_word(c) + 1 : 0;
    uint32_t additions = 0;
    c->entered =
        pm_arena_zalloc(c->instrument->module->arena, info->point_count + 1u, sizeof *c->entered);
    c->turns = pm_arena_zalloc(c->instrument->module->arena, units(c), sizeof *c->turns);
    c->marks = pm_arena_zalloc(c->instrument->module->arena, words, sizeof *c->marks);
    c->fields = pm_arena_zalloc(c->instrument->module->arena, field_words + 1u, sizeof *c->fields);
    if (!c->turns || !c->marks || !c->fields || !c->entered)
        return false;
    for (uint32_t w = 0; w < field_words; w++)
        c->fields[w] = pm_instrument_variable(c->instrument);
    for (uint32_t u = units(c) - c->turning_count; u < units(c); u++)
        c->turns[u] = pm_instrument_variable(c->instrument);
    for (uint32_t w = 0; c->waits && w < words; w++)
        c->marks[w] = pm_instrument_variable(c->instrument);
    for (uint32_t i = 0; c->waits && info->sums_outlive_loops && i < info->point_count; i++)
        if (!c->once[i] && leader_of(c, i) == PM_COMPANY_NONE && !c->turns[unit_of(c, i)] &&
            (additions += c->place_count) <= MOST_ADDITIONS)
            c->turns[unit_of(c, i)] = pm_instrument_variable(c->instrument);
    if (c->waits)
        c->next = pm_instrument_variable(c->instrument);
    return true;
}

/* The entry of the shader itself, if that cannot wait: one atomic, of the first lane or two. Of
 * lanes alone the first one adds how many they are. */
static void add_entry(struct pm_block_counts *c, const struct pm_entry_counts *entry,
                      struct pm_ir_block *rest)
{
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    struct pm_ir_def *numbers = pm_entry_counts_numbers(entry);
    struct pm_entry_add add = pm_entry_counts_of(entry, entry->rank, units(c));
    if (c->layout.lanes_only) {
        numbers = uint_of(c, 1);
        add.index = build_select(c, entry->full, uint_of(c, 0), uint_of(c, units(c)));
        add.value = build_select(c, entry->full, uint_of(c, 1), entry->lanes);
    }
    struct pm_ir_def *adds =
        build_and(c, entry->live, build_bool(c, SpvOpULessThan, entry->rank, numbers));
    pm_ir_build_if(b, adds, true, rest);
    pm_counting_add_at(counting, b, c->slot, add.index, add.value);
    pm_ir_build_end_if(b, rest);
}

static void begin_entry(struct pm_block_counts *c)
{
    struct pm_instrument *p = c->instrument;
    struct pm_ir_builder *b = &p->builder;
    struct pm_ir_block *first = p->function->first_block, *rest = NULL;
    if (c->waits)
        *b = (struct pm_ir_builder){p->module, first, pm_ir_block_start(first)};
    else
        rest = pm_block_open(b, first);
    const struct pm_entry_counts entry =
        pm_entry_counts_ask(&p->counting, b, NULL, p->info->subgroup_size);
    c->entry_ballot = entry.ballot;
    c->entry_lanes = entry.lanes;
    c->is_full = entry.full;
    c->is_first = build_and(c, entry.live, build_bool(c, SpvOpIEqual, entry.rank, uint_of(c, 0)));
    c->slot = pm_counting_slot(&p->counting, b);
    if (!c->demotes)
        c->live = entry.live;
    if (c->waits)
        store(c, c->marks[0], uint_of(c, 1));
    else
        add_entry(c, &entry, rest);
}

static bool find_places(struct pm_block_counts *c)
{
    find_leaving(c, NULL);
    c->places =
        pm_arena_zalloc(c->instrument->module->arena, c->place_count + 1u, sizeof *c->places);
    c->waits = calls_none(c->instrument->module);
    if (!c->places)
        return false;
    find_leaving(c, c->places);
    return true;
}

/* How what enters a point waits: in that order are units numbered. */
enum way { FIELD, SHARED, TURNING, WAYS };

static enum way way_of(const struct pm_block_counts *c, uint32_t index)
{
    const struct pm_instrument_info *info = c->instrument->info;
    const struct pm_block_company *company = c->company;
    if (!company || !c->waits || !info->subgroup_arithmetic ||
        company->of_point[index] == PM_COMPANY_ENTRY)
        return SHARED;
    if (!c->layout.lanes_only &&
        (company->gathers[index] == PM_COMPANY_NONE || leave_together(c, index)))
        return SHARED;
    if (c->once[index])
        return FIELD;
    const bool each = c->layout.lanes_only || company->each_turn[index];
    return each && info->sums_outlive_loops ? TURNING : SHARED;
}

/* Numbers the units of the points that lead and wait in one way, and gives how many; more than
 * `most` are SHARED. */
static uint32_t number_way(struct pm_block_counts *c, enum way *ways, enum way way, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t i = c->layout.has_entry; i < c->layout.point_count; i++) {
        if (leader_of(c, i) != PM_COMPANY_NONE || ways[i] != way)
            continue;
        if (count == most) {
            ways[i] = SHARED;
            continue;
        }
        c->point_of[c->layout.unit_count] = i;
        c->layout.units[i] = c->layout.unit_count++;
        count++;
    }
    return count;
}

/* Whose lanes others have to know. */
static void find_asked(struct pm_block_counts *c, const enum way *ways)
{
    for (uint32_t i = 0; c->company && i < c->layout.point_count; i++) {
        const uint32_t with = c->company->of_point[i];
        const bool knows =
            ways[i] != SHARED || (leave_together(c, i) && c->waits &&
                                  (c->once[i] || c->instrument->info->sums_outlive_loops));
        if (with < PM_COMPANY_ENTRY && leader_of(c, i) == PM_COMPANY_NONE && !knows)
            c->is_asked[with] = true;
    }
}

/* The first field is nobody's, as unit 0 has none. */
static uint32_t most_fields(const struct pm_block_counts *c, uint32_t places)
{
    const uint32_t share = MOST_FIELDS_ADDED / places;
    const uint32_t words = share < MOST_FIELD_WORDS ? share : MOST_FIELD_WORDS;
    return words ? words * fields_in_word(c) - 1 : 0;
}

static void number_units(struct pm_block_counts *c, enum way *ways)
{
    const struct pm_instrument_info *info = c->instrument->info;
    const uint32_t places = c->place_count ? c->place_count : 1;
    uint32_t turning = 0;
    c->layout.unit_count = 1;
    c->field_bits = info->most_lanes > 0 && info->most_lanes < 16 ? 4 : 8;
    for (uint32_t i = 0; i < info->point_count; i++) {
        ways[i] = way_of(c, i);
        if (leader_of(c, i) == PM_COMPANY_NONE && ways[i] == TURNING &&
            ++turning > MOST_TURNINGS / places)
            ways[i] = SHARED;
    }
    c->field_count = number_way(c, ways, FIELD, most_fields(c, places));
    number_way(c, ways, SHARED, UINT32_MAX);
    c->turning_count = number_way(c, ways, TURNING, UINT32_MAX);
    for (uint32_t i = 0; i < info->point_count; i++) {
        const uint32_t leader = leader_of(c, i);
        if (leader < PM_COMPANY_ENTRY)
            c->layout.units[i] = c->layout.units[leader];
        c->counts_lanes[c->layout.units[i]] |= !info->flow || info->flow->counted[info->points[i]];
    }
    find_asked(c, ways);
}

/* Points that are entered together, equally often, are one unit. */
static bool make_units(struct pm_block_counts *c)
{
    const size_t count = c->layout.point_count + 1u;
    struct pm_arena *arena = c->instrument->module->arena;
    enum way *ways = pm_arena_zalloc(arena, count, sizeof *ways);
    c->layout.units = calloc(count, sizeof *c->layout.units);
    c->point_of = pm_arena_zalloc(arena, count, sizeof *c->point_of);
    c->is_asked = pm_arena_zalloc(arena, count, sizeof *c->is_asked);
    c->counts_lanes = pm_arena_zalloc(arena, count, sizeof *c->counts_lanes);
    if (!ways || !c->layout.units || !c->point_of || !c->is_asked || !c->counts_lanes)
        return false;
    number_units(c, ways);
    return true;
}

bool pm_block_counts_begin(struct pm_block_counts *c, struct pm_instrument *p, const bool *once,
                           const struct pm_block_company *company)
{
    const struct pm_instrument_info *info = p->info;
    *c = (struct pm_block_counts){
        .instrument = p,
        .once = once,
        .company = company,
        .layout = pm_block_layout(info),
    };
    if (!find_places(c) || !make_units(c))
        return false;
    c->waits = c->waits && units(c) > 1; /* the entry alone waits for nobody */
    if (c->field_count || c->turning_count)
        pm_ir_require_capability(p->module, SpvCapabilityGroupNonUniformArithmetic);
    p->counting.slot_stride = (pm_block_units(&c->layout) + 7) & ~7u;
    if (!make_registers(c))
        return false;
    begin_entry(c);
    return true;
}

/* ---- at a block ---- */

/* Whether it is the first of the lanes that entered, where these are an earlier block's: not who is
 * elected here, since where lanes that parted do not go on together each part would elect one, and
 * all be counted by each. NULL: not known. */
static struct pm_ir_def *build_chosen(const struct pm_block_counts *c, uint32_t with,
                                      const struct pm_block_entered *entered)
{
    if (with == PM_COMPANY_ENTRY)
        return c->is_first;
    if (with == PM_COMPANY_NONE || entered->ballot != c->entered[with].ballot)
        return NULL;
    return build_bool(c, SpvOpIEqual,
                      count_bits(c, entered->ballot, SpvGroupOperationExclusiveScan),
                      uint_of(c, 0));
}

/* Begins what one of the lanes does that count here and find the condition true; then the builder
 * is inside. condition NULL: all do. chosen: it is that lane; NULL: one is elected. */
static struct pm_ir_block *begin_one(const struct pm_block_counts *c, struct pm_ir_def *live,
                                     struct pm_ir_def *condition, struct pm_ir_def *chosen,
                                     struct pm_ir_block *rest)
{
    struct pm_ir_builder *b = &c->instrument->builder;
    const bool all_live = c->instrument->stage != PM_STAGE_FRAGMENT;
    if (chosen)
        return pm_ir_build_if(b, build_and(c, build_and(c, live, condition), chosen), true, rest);
    if (!condition && all_live)
        return pm_ir_build_if(b, pm_counting_elect(&c->instrument->counting, b), true, rest);
    pm_ir_build_if(b, build_and(c, live, condition), true, rest);
    return pm_ir_build_if(b, pm_counting_elect(&c->instrument->counting, b), true, NULL);
}

static void end_one(const struct pm_block_counts *c, struct pm_ir_block *merge,
                    struct pm_ir_block *rest)
{
    pm_ir_build_end_if(&c->instrument->builder, merge);
    if (merge != rest)
        pm_ir_build_end_if(&c->instrument->builder, rest);
}

void pm_block_counts_add(struct pm_block_counts *c, uint32_t index, struct pm_ir_block *block)
{
    pm_block_counts_add_at(c, index, pm_ir_block_start(block));
}

/* The lanes that enter what comes now, or that of whose block it is said they do. */
static struct pm_block_entered enter(struct pm_block_counts *c, uint32_t with,
                                     struct pm_ir_def *live)
{
    if (with == PM_COMPANY_ENTRY)
        return (struct pm_block_entered){.ballot = c->entry_ballot};
    if (with != PM_COMPANY_NONE && c->entered[with].ballot)
        return c->entered[with];
    /* A lane that returned or was killed or demoted since the entry did not enter: the subgroup is
     * then not whole. */
    struct pm_ir_def *ballot = build_ballot(c, live);
    return (struct pm_block_entered){ballot, build_same(c, ballot, c->entry_ballot)};
}

void pm_block_counts_add_at(struct pm_block_counts *c, uint32_t index, struct pm_ir_instr *at)
{
    struct pm_instrument *p = c->instrument;
    struct pm_ir_builder *b = &p->builder;
    const bool waits = has_register(c, index);
    const uint32_t with = c->company ? c->company->of_point[index] : PM_COMPANY_NONE;
    if (leader_of(c, index) != PM_COMPANY_NONE)
        return;
    const bool own = is_field(c, unit_of(c, index)) || is_turning(c, unit_of(c, index));
    if (own || (waits && with == PM_COMPANY_ENTRY) || stays(c, index)) {
        *b = (struct pm_ir_builder){p->module, at->block, at};
        if (with == PM_COMPANY_ENTRY || c->is_asked[index])
            c->entered[index] = enter(c, with, build_live(c));
        if (own)
            note_own(c, unit_of(c, index));
        else
            note(c, index, NULL);
        return;
    }
    struct pm_ir_block *rest = pm_block_open_at(b, at->block, at);
    struct pm_ir_def *live = build_live(c);
    const struct pm_block_entered entered = c->entered[index] = enter(c, with, live);
    struct pm_ir_def *whole = entered.whole ? entered.whole : pm_ir_constant_bool(p->module, true);
    if (waits)
        note(c, index, whole);
    struct pm_ir_def *chosen = build_chosen(c, with, &entered);
    struct pm_ir_block *merge =
        begin_one(c, live, waits ? build_not(c, whole) : NULL, chosen, rest);
    struct pm_ir_def *lanes = count_bits(c, entered.ballot, SpvGroupOperationReduce);
    if (waits)
        add_part(c, unit_of(c, index), lanes);
    else
        add_now(c, unit_of(c, index), whole, lanes);
    end_one(c, merge, rest);
}

void pm_block_counts_end(struct pm_block_counts *c)
{
    struct pm_instrument *p = c->instrument;
    for (uint32_t i = 0; c->waits && i < c->place_count && !p->module->failed; i++)
        pm_block_leaving_add(c, &c->places[i]);
    if (c->demotes && !p->module->failed)
        pm_block_mend_sampled_images(p->function);
}
