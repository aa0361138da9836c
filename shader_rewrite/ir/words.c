#include "shader_rewrite/ir/words.h"

#include <stdlib.h>

void pm_words_finish(struct pm_words *words)
{
    if (!words)
        return;
    free(words->data);
    *words = (struct pm_words){0};
}
