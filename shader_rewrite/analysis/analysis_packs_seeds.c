#include "shader_rewrite/analysis/analysis_packs_seeds.h"

#include <spirv/unified1/GLSL.std.450.h>
#include <stdlib.h>

enum { LANES = 4, USERS_MOST = 16 };

struct seeds {
    void (*seed)(void *user, struct pm_ir_instr *const *lanes, uint32_t count);
    void *user;
};

/* ---- neighbours: in memory, or in a vector ---- */

/* Something at a constant distance from a place: a scalar that is loaded, stored or taken out. */
struct reference {
    uint32_t block;
    uint16_t opcode;
    const struct pm_ir_instr *holder; /* OpAccessChain, or OpCompositeExtract itself */
    uint32_t held;                    /* operands of the holder that all neighbours share */
    const struct pm_ir_def *variable; /* added to the constant; NULL: nothing */
    int64_t constant;
    uint32_t place; /* in the module */
    struct pm_ir_instr *lane;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Neighbours have all but the constant in common. */
static int compare_places(const struct reference *a, const struct reference *b)
{
    int order = compare_numbers(a->block, b->block);
    order = order ? order : compare_numbers(a->opcode, b->opcode);
    order = order ? order : compare_numbers(a->held, b->held);
    for (uint32_t i = 0; i < a->held && !order; i++)
        order = compare_numbers(pm_ir_operand_word(&a->holder->operands[i]),
                                pm_ir_operand_word(&b->holder->operands[i]));
    if (!order)
        order =
            compare_numbers(a->variable ? a->variable->id : 0, b->variable ? b->variable->id : 0);
    return order;
}

static int compare_references(const void *left, const void *right)
{
    const struct reference *a = left, *b = right;
    int order = compare_places(a, b);
    if (!order && a->constant != b->constant)
        order = a->constant < b->constant ? -1 : 1;
    return order ? order : compare_numbers(a->place, b->place);
}

static bool constant_of(const struct pm_ir_instr *instr, int64_t *value)
{
    if (!instr || instr->opcode != SpvOpConstant || instr->operands[0].words)
        return false;
    *value = (int32_t)pm_ir_operand_word(&instr->operands[0]);
    return true;
}

/* An index as something and a constant. */
static void split_index(const struct pm_ir_operand *index, struct reference *out)
{
    const struct pm_ir_instr *instr = index->def ? index->def->instr : NULL;
    out->variable = index->def;
    if (constant_of(instr, &out->constant)) {
        out->variable = NULL;
    } else if (instr && instr->opcode == SpvOpIAdd) {
        for (uint32_t side = 0; side < 2; side++)
            if (constant_of(pm_ir_operand_instr(instr, side), &out->constant)) {
                out->variable = instr->operands[1 - side].def;
                return;
            }
    }
}

static bool may_refer(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpLoad || instr->opcode == SpvOpStore ||
           instr->opcode == SpvOpCompositeExtract;
}

/* Of what may refer. */
static bool reference_of(struct pm_ir_instr *instr, struct reference *out)
{
    *out = (struct reference){.block = instr->block->index,
                              .opcode = instr->opcode,
                              .place = instr->place,
                              .lane = instr};
    if (instr->opcode == SpvOpCompositeExtract) {
        if (instr->operand_count != 2)
            return false;
        out->holder = instr;
        out->held = 1;
        out->constant = pm_ir_operand_word(&instr->operands[1]);
        return true;
    }
    if (instr->opcode == SpvOpStore)
        out->lane = pm_ir_operand_instr(instr, 1);
    out->holder = pm_ir_operand_instr(instr, 0);
    if (!out->holder || out->holder->operand_count < 2 ||
        (out->holder->opcode != SpvOpAccessChain &&
         out->holder->opcode != SpvOpInBoundsAccessChain))
        return false;
    out->held = out->holder->operand_count - 1;
    split_index(&out->holder->operands[out->held], out);
    return true;
}

/* Runs of neighbours, four at a time. Of two at one place the first is meant. */
static void seed_runs(const struct seeds *s, const struct reference *references, size_t count)
{
    struct pm_ir_instr *lanes[LANES];
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const struct reference *r = &references[i];
        bool same = i > 0 && compare_places(r, r - 1) == 0;
        if (same && r->constant == r[-1].constant)
            continue;
        if (found == LANES || !same || r->constant != r[-1].constant + 1) {
            if (found > 1)
                s->seed(s->user, lanes, found);
            found = 0;
        }
        lanes[found++] = r->lane;
    }
    if (found > 1)
        s->seed(s->user, lanes, found);
}

static bool seed_neighbours(const struct seeds *s, const struct pm_cfg *cfg, struct pm_arena *arena)
{
    size_t count = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (const struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next)
            count += may_refer(i);
    struct reference *references = pm_arena_zalloc(arena, count, sizeof(*references));
    if (!references)
        return false;
    count = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next)
            if (may_refer(i) && reference_of(i, &references[count]))
                count++;
    qsort(references, count, sizeof(*references), compare_references);
    seed_runs(s, references, count);
    return true;
}

/* ---- parts of one vector ---- */

static void seed_construct(const struct seeds *s, const struct pm_ir_instr *construct)
{
    struct pm_ir_instr *lanes[LANES];
    uint32_t count = 0;
    for (uint32_t i = 0; i < construct->operand_count && count < LANES; i++)
        lanes[count++] = pm_ir_operand_instr(construct, i);
    if (count > 1)
        s->seed(s->user, lanes, count);
}

/* ---- sums ---- */

static bool is_fma(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpExtInst && instr->operand_count == 5 &&
           pm_ir_operand_word(&instr->operands[1]) == GLSLstd450Fma;
}

static bool is_sum(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpFAdd || instr->opcode == SpvOpIAdd || is_fma(instr);
}

static bool is_product(const struct pm_ir_instr *instr)
{
    return instr && (instr->opcode == SpvOpFMul || instr->opcode == SpvOpIMul);
}

/* A term of another sum, or with too many users to tell. */
static bool is_term(const struct pm_ir_instr *sum)
{
    uint32_t looked_at = 0;
    for (const struct pm_ir_operand *use = sum->result->first_use; use; use = use->next_use)
        if (++looked_at > USERS_MOST || (use->user->block == sum->block && is_sum(use->user)))
            return true;
    return false;
}

struct sum {
    struct pm_ir_instr *terms[LANES]; /* NULL: the product within a fused multiply-add */
    struct pm_ir_instr *factors[2][LANES];
    uint32_t count;
};

static void add_term(struct sum *sum, struct pm_ir_instr *term, const struct pm_ir_instr *product,
                     uint32_t first)
{
    sum->terms[sum->count] = term;
    for (uint32_t side = 0; side < 2; side++)
        sum->factors[side][sum->count] =
            product ? pm_ir_operand_instr(product, first + side) : NULL;
    sum->count++;
}

/* The terms, left to right. false: more than four. */
static bool find_terms(struct pm_ir_instr *root, struct sum *sum)
{
    struct pm_ir_instr *pending[2 * LANES] = {root};
    uint32_t count = 1;
    while (count > 0) {
        struct pm_ir_instr *at = pending[--count];
        if (sum->count == LANES || count + 2 > LANES + 1)
            return false;
        if (!at || at->block != root->block || !is_sum(at)) {
            add_term(sum, at, is_product(at) ? at : NULL, 0);
        } else if (is_fma(at)) {
            add_term(sum, NULL, at, 2);
            pending[count++] = pm_ir_operand_instr(at, 4);
        } else {
            pending[count++] = pm_ir_operand_instr(at, 1);
            pending[count++] = pm_ir_operand_instr(at, 0);
        }
    }
    return true;
}

static void seed_sum(const struct seeds *s, struct pm_ir_instr *root)
{
    struct sum sum = {.count = 0};
    if (is_term(root) || !find_terms(root, &sum) || sum.count < 2)
        return;
    s->seed(s->user, sum.terms, sum.count);
    s->seed(s->user, sum.factors[0], sum.count);
    s->seed(s->user, sum.factors[1], sum.count);
}

bool pm_packs_seeds(const struct pm_ir_function *function, struct pm_arena *arena,
                    void (*seed)(void *user, struct pm_ir_instr *const *lanes, uint32_t count),
                    void *user)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct seeds s = {seed, user};
    if (!seed_neighbours(&s, cfg, arena))
        return false;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (const struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next)
            if (i->opcode == SpvOpCompositeConstruct)
                seed_construct(&s, i);
    for (uint32_t b = 0; b < cfg->count; b++)
        for (struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next)
            if (i->result && is_sum(i))
                seed_sum(&s, i);
    return true;
}
