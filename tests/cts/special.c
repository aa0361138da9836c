#include "tests/cts/cts.h"
bool cts_special_at(uint32_t n, char name[static 128])
{
    (void)n;
    (void)name;
    return false;
}
bool cts_special_run(const char *name)
{
    (void)name;
    return false;
}
