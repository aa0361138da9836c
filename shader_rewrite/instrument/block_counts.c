#include "shader_rewrite/instrument/block_code.h"
#include "shader_rewrite/instrument/block_leaving.h"

#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/points/points.h"

/* Of numbers in registers, over all places where lanes leave; but what shares one has it. */
enum { MOST_ADDITIONS = 256 };

/* ---- what is added ---- */

/* Whether two ballots are of the same lanes: without counting them, which takes longer. */
static struct pm_ir_def *build_same(const struct pm_block_counts *c, struct pm_ir_def *x,
                                    struct pm_ir_def *y)
{
    struct pm_ir_def *boolean = c->instrument->counting.boolean;
    struct pm_ir_def *words = pm_ir_type_vector(c->instrument->module, boolean, 4);
    return pm_ir_build(&c->instrument->builder, SpvOpAll, boolean,
                       PM_IR_ARGS(pm_ir_id(build(c, SpvOpIEqual, words, x, y))));
}

/* Whether the lanes of a point's entries that are not whole are counted: they may follow. */
static bool counts_lanes(const struct pm_block_counts *c, uint32_t index)
{
    return !c->counts_lanes || c->counts_lanes[c->instrument->info->points[index]];
}

/* An entry of a point with so many lanes, which are not all. */
static void add_part(const struct pm_block_counts *c, uint32_t index, struct pm_ir_def *lanes)
{
    const struct pm_counting_slot slot = c->slot;
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    const uint32_t unit = index + 1;
    if (c->layout.lanes_only) {
        pm_counting_add(counting, b, slot, units(c) + unit, lanes);
        return;
    }
    pm_counting_add(counting, b, slot, units(c) + unit, uint_of(c, 1));
    if (counts_lanes(c, index))
        pm_counting_add(counting, b, slot, 3 * units(c) + unit, lanes);
}

/* An entry of a point with so many lanes, whole or not. */
static void add_now(const struct pm_block_counts *c, uint32_t index, struct pm_ir_def *whole,
                    struct pm_ir_def *lanes)
{
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    const uint32_t unit = index + 1;
    struct pm_ir_def *full = build_bool(c, SpvOpLogicalAnd, whole, c->is_full);
    struct pm_ir_def *first = build_select(c, full, uint_of(c, unit), uint_of(c, units(c) + unit));
    if (c->layout.lanes_only) {
        pm_counting_add_at(counting, b, c->slot, first,
                           build_select(c, full, uint_of(c, 1), lanes));
        return;
    }
    pm_counting_add_at(counting, b, c->slot, first, uint_of(c, 1));
    const bool all = counts_lanes(c, index);
    struct pm_ir_def *more =
        all ? build_not(c, full) : build_bool(c, SpvOpLogicalAnd, whole, build_not(c, c->is_full));
    struct pm_ir_block *merge = pm_ir_build_if(b, more, true, NULL);
    struct pm_ir_def *second =
        build_select(c, whole, uint_of(c, 2 * units(c) + unit), uint_of(c, 3 * units(c) + unit));
    pm_counting_add_at(counting, b, c->slot, second, lanes);
    pm_ir_build_end_if(b, merge);
}

/* ---- registers ---- */

struct pm_ir_def *pm_block_counts_variable(const struct pm_block_counts *c)
{
    struct pm_ir_module *module = c->instrument->module;
    struct pm_ir_block *first = c->instrument->function->first_block;
    struct pm_ir_def *type =
        pm_ir_type_pointer(module, SpvStorageClassFunction, c->instrument->counting.uint);
    struct pm_ir_builder b = {module, first, first->body.first};
    return pm_ir_build(&b, SpvOpVariable, type,
                       PM_IR_ARGS(pm_ir_word(SpvStorageClassFunction), pm_ir_id(uint_of(c, 0))));
}

static void note_in(const struct pm_block_counts *c, struct pm_ir_def *variable, uint16_t opcode,
                    uint32_t value, struct pm_ir_def *whole)
{
    struct pm_ir_def *noted = uint_of(c, value);
    if (whole)
        noted = build_select(c, whole, noted, uint_of(c, 0));
    store(c, variable, build_uint(c, opcode, load(c, variable), noted));
}

/* An entry of a point, and of all that are counted with it, is noted, where `whole`; NULL: always.
 */
static void note(const struct pm_block_counts *c, uint32_t index, struct pm_ir_def *whole)
{
    if (c->turns[index + 1]) {
        note_in(c, c->turns[index + 1], SpvOpIAdd, 1, whole);
        return;
    }
    for (uint32_t word = 0; word * PM_BLOCK_MARK_BITS < units(c); word++) {
        uint32_t bits = 0;
        for (uint32_t i = index; i != PM_COMPANY_NONE; i = next_of(c, i))
            bits |= (i + 1) / PM_BLOCK_MARK_BITS == word
                        ? UINT32_C(1) << (i + 1) % PM_BLOCK_MARK_BITS
                        : 0;
        if (bits)
            note_in(c, c->marks[word], SpvOpBitwiseOr, bits, whole);
    }
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

static bool make_registers(struct pm_block_counts *c)
{
    const struct pm_instrument_info *info = c->instrument->info;
    const uint32_t words = (units(c) + PM_BLOCK_MARK_BITS - 1) / PM_BLOCK_MARK_BITS;
    uint32_t additions = 0;
    find_leaving(c, NULL);
    c->places =
        pm_arena_zalloc(c->instrument->module->arena, c->place_count + 1u, sizeof *c->places);
    c->entered =
        pm_arena_zalloc(c->instrument->module->arena, info->point_count + 1u, sizeof *c->entered);
    c->turns = pm_arena_zalloc(c->instrument->module->arena, units(c), sizeof *c->turns);
    c->marks = pm_arena_zalloc(c->instrument->module->arena, words, sizeof *c->marks);
    c->waits = calls_none(c->instrument->module);
    if (!c->turns || !c->marks || !c->places || !c->entered)
        return false;
    find_leaving(c, c->places);
    for (uint32_t w = 0; c->waits && w < words; w++)
        c->marks[w] = pm_block_counts_variable(c);
    for (uint32_t i = 0; c->waits && info->sums_outlive_loops && i < info->point_count; i++)
        if (!c->once[i]) {
            const uint32_t leader = leader_of(c, i);
            const bool fits = (additions += c->place_count) <= MOST_ADDITIONS;
            if (leader < PM_COMPANY_ENTRY)
                c->turns[i + 1] = c->turns[leader + 1];
            else if (fits)
                c->turns[i + 1] = pm_block_counts_variable(c);
        }
    if (c->waits)
        c->next = pm_block_counts_variable(c);
    return true;
}

/* The entry of the shader waits, and of what is entered whenever it is. */
static void note_entry(const struct pm_block_counts *c)
{
    for (uint32_t word = 0; word * PM_BLOCK_MARK_BITS < units(c); word++) {
        uint32_t bits = word == 0;
        for (uint32_t i = 0; i < c->layout.point_count; i++)
            if (leader_of(c, i) == PM_COMPANY_ENTRY && (i + 1) / PM_BLOCK_MARK_BITS == word)
                bits |= UINT32_C(1) << (i + 1) % PM_BLOCK_MARK_BITS;
        if (bits)
            store(c, c->marks[word], uint_of(c, bits));
    }
}

/* One lane of each subgroup adds the entry of the shader itself, if that cannot wait. */
static void add_entry(struct pm_block_counts *c, struct pm_ir_block *rest)
{
    struct pm_ir_builder *b = &c->instrument->builder;
    pm_ir_build_if(b, c->is_first, true, rest);
    add_entries(c, uint_of(c, 0), uint_of(c, 1), NULL, NULL);
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
    struct pm_ir_def *live = build_live(c), *ballot = build_ballot(c, live);
    c->entry_ballot = ballot;
    c->entry_lanes = count_bits(c, ballot, SpvGroupOperationReduce);
    c->is_full = p->info->subgroup_size ? build_bool(c, SpvOpIEqual, c->entry_lanes,
                                                     uint_of(c, p->info->subgroup_size))
                                        : pm_ir_constant_bool(p->module, false);
    c->is_first =
        build_bool(c, SpvOpLogicalAnd, live,
                   build_bool(c, SpvOpIEqual, count_bits(c, ballot, SpvGroupOperationExclusiveScan),
                              uint_of(c, 0)));
    c->slot = pm_counting_slot(&p->counting, b);
    if (!c->demotes)
        c->live = live;
    if (c->waits)
        note_entry(c);
    else
        add_entry(c, rest);
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
        .counts_lanes = info->flow ? info->flow->counted : NULL,
    };
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

static struct pm_ir_def *build_and(const struct pm_block_counts *c, struct pm_ir_def *x,
                                   struct pm_ir_def *y)
{
    const struct pm_ir_def *always = c->instrument->counting.true_constant;
    return !y || y == always ? x : !x || x == always ? y : build_bool(c, SpvOpLogicalAnd, x, y);
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
    if ((waits && with == PM_COMPANY_ENTRY) || stays(c, index)) {
        *b = (struct pm_ir_builder){p->module, at->block, at};
        c->entered[index] = enter(c, with, build_live(c));
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
    for (uint32_t i = index; i != PM_COMPANY_NONE; i = next_of(c, i))
        if (waits)
            add_part(c, i, lanes);
        else
            add_now(c, i, whole, lanes);
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
