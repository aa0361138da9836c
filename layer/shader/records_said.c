#include "layer/shader/records_said.h"

#include <inttypes.h>

static void say(void *user, struct pm_shader_record *record)
{
    struct pm_record_sum sum;
    char key[PM_SHADER_KEY_TEXT];
    uint32_t by[PM_WENT_BY];
    pm_shader_record_sum(record, &sum);
    pm_shader_key_format(&record->key, key);
    for (int why = 0; why < PM_WENT_BY; why++)
        by[why] = atomic_load(&record->gone.by[why]);
    pm_log_debug(user,
                 "shader %.12s: %" PRIu64 " calls were counted, of %" PRIu32 " of %" PRIu32
                 " points; %" PRIu32 " variants in %" PRIu32 " batches; went by: %" PRIu32
                 " before it was known, %" PRIu32 " before a variant was made, %" PRIu32
                 " for lack of room, %" PRIu32 " by limits.first_draw_words, %" PRIu32
                 " as it counts what is occluded",
                 key, sum.calls, sum.read, sum.points, atomic_load(&record->made),
                 record->batch_count, by[PM_BY_NO_RECORD], by[PM_BY_BEING_MADE], by[PM_BY_NONE],
                 by[PM_BY_FIRST_DRAW], by[PM_BY_OCCLUDED]);
}

void pm_records_say_gone(struct pm_shader_records *records, uint32_t unknown, struct pm_log *log)
{
    pm_shader_records_each(records, say, log);
    pm_log_debug(log, "%" PRIu32 " chosen calls went by before their shaders were known", unknown);
}
