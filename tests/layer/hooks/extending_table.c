#include "tests/layer/hooks/extending_table.h"

#include "extending.h"

const struct extending extending[] = {
#define X(base, structure, type) {#base, #structure, type, sizeof(structure)},
    PM_EXTENDING(X)
#undef X
};
const size_t extending_count = sizeof extending / sizeof *extending;
