#include "layer/frame/pushed.h"

void pm_pushed_change(struct pm_pushed *pushed, const struct pm_push_layouts *layouts,
                      const struct pm_push *push)
{
    const struct pm_push_ranges *ranges = pm_push_layouts_find(layouts, push->layout);
    /* A game that pushes parts of words does what Vulkan does not allow: nothing is believed of the
     * recording any more. */
    const bool whole = ((push->offset | push->size) & 3) == 0;
    if (ranges != pushed->ranges || ranges == NULL || !whole)
        pm_pushed_forget(pushed);
    if (!whole)
        pushed->wanted = 0;
    pushed->layout = push->layout;
    pushed->ranges = whole ? ranges : NULL;
}
