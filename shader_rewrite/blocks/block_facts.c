#include "shader_rewrite/blocks/block_facts.h"

#include <math.h>

struct pm_block_numbers pm_blocks_numbers(const struct pm_blocks *blocks,
                                          const struct pm_ir_block *block)
{
    const uint32_t label = block->label->result->id;
    const double none = (double)NAN;
    if (label >= blocks->label_bound)
        return (struct pm_block_numbers){none, none, none, none, none};
    return blocks->numbers[label];
}

bool pm_blocks_is_cold(const struct pm_blocks *blocks, const struct pm_ir_block *block,
                       const struct pm_ir_block *around)
{
    const struct pm_block_numbers a = pm_blocks_numbers(blocks, block);
    const struct pm_block_numbers b = pm_blocks_numbers(blocks, around);
    const bool lanes = blocks->info->ignore_uniformity;
    const double inside = lanes ? a.frequency : a.subgroups;
    const double outside = lanes ? b.frequency : b.subgroups;
    if (blocks->info->all_rare)
        return true;
    return outside > 0 && inside < blocks->cold_share * outside;
}

bool pm_blocks_is_uniform(const struct pm_blocks *blocks, const struct pm_ir_block *block)
{
    const struct pm_block_numbers numbers = pm_blocks_numbers(blocks, block);
    return numbers.uniform >= blocks->uniform_share || numbers.frequency <= 0;
}

void pm_blocks_decide(struct pm_blocks *blocks, const char *pass, const struct pm_ir_block *block,
                      uint32_t value, bool done, const char *what, const char *reason)
{
    const uint32_t label = block->label->result->id;
    struct pm_buffer *out = &blocks->report;
    blocks->changes += done;
    bool ok = pm_buffer_printf(out, "%s{\"pass\":\"%s\",\"block\":", out->size ? "," : "", pass);
    if (label < blocks->label_bound && blocks->points[label] != UINT32_MAX)
        ok = ok && pm_buffer_printf(out, "%u", blocks->points[label]);
    else
        ok = ok && pm_buffer_append_string(out, "null");
    if (value)
        ok = ok && pm_buffer_printf(out, ",\"value\":%u", value);
    ok = ok && pm_buffer_printf(out, ",\"done\":%s,\"what\":\"%s\",\"reason\":\"%s\"}",
                                done ? "true" : "false", what, reason);
    blocks->report_failed |= !ok;
}
