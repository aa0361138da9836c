#include "profile/left_alone_why.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *text;
} whys[PM_LEFT_ALONE_WHYS] = {
    [PM_LEFT_ALONE_INSTRUCTION] = {"instruction", "an instruction that SPIRV-Tools does not know"},
    [PM_LEFT_ALONE_EXTENSION] = {"extension", "an extension that SPIRV-Tools does not know"},
    [PM_LEFT_ALONE_OPERAND] = {"operand", "a capability, or another operand, that SPIRV-Tools does "
                                          "not know"},
    [PM_LEFT_ALONE_INVALID] = {"invalid", "no valid SPIR-V"},
    [PM_LEFT_ALONE_LARGE] = {"large", "more than is read or optimized"},
    [PM_LEFT_ALONE_OPTIMIZER] = {"optimizer", "what SPIRV-Tools' optimizer gives up at"},
    [PM_LEFT_ALONE_BINARY] = {"binary", "a driver's binary and no SPIR-V"},
    [PM_LEFT_ALONE_DRIVER] = {"driver", "what the driver computes otherwise once it is changed"},
    [PM_LEFT_ALONE_OTHER] = {"other", "another reason"},
};

/* What SPIRV-Tools, the parser and the canonicalization say, by what tells them apart; the first
 * that is in a reason's text stands. */
static const struct {
    const char *part;
    enum pm_left_alone_why why;
} parts[] = {
    {"Invalid opcode", PM_LEFT_ALONE_INSTRUCTION},
    {"Invalid extended instruction", PM_LEFT_ALONE_EXTENSION},
    {"Unknown extension", PM_LEFT_ALONE_EXTENSION},
    {"unrecognized extension", PM_LEFT_ALONE_EXTENSION},
    {"is newer than what SPIRV-Tools knows", PM_LEFT_ALONE_OPERAND},
    {" operand: ", PM_LEFT_ALONE_OPERAND},
    {"crashes SPIRV-Tools", PM_LEFT_ALONE_OPTIMIZER},
    {"optimizer gave up", PM_LEFT_ALONE_OPTIMIZER},
    {"shader object is a binary", PM_LEFT_ALONE_BINARY},
    {"this driver ", PM_LEFT_ALONE_DRIVER},
    {"at most ", PM_LEFT_ALONE_LARGE},
    {" more than ", PM_LEFT_ALONE_LARGE},
    {"id bound ", PM_LEFT_ALONE_LARGE},
    {"SPIR-V", PM_LEFT_ALONE_INVALID},
    {"entry point", PM_LEFT_ALONE_INVALID},
};

enum pm_left_alone_why pm_left_alone_classify(const char *reason)
{
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(reason, parts[i].part))
            return parts[i].why;
    }
    return PM_LEFT_ALONE_OTHER;
}

const char *pm_left_alone_name(enum pm_left_alone_why why)
{
    return whys[why].name;
}

const char *pm_left_alone_text(enum pm_left_alone_why why)
{
    return whys[why].text;
}
