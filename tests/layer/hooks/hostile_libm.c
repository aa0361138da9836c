#include "tests/layer/hooks/hostile_libm.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic unsigned calls;

unsigned hostile_libm_calls(void)
{
    return calls;
}

static void note(const char *name, const void *caller)
{
    Dl_info info;
    if (dladdr(caller, &info) == 0 || strstr(info.dli_fname, "libVkLayer_piecemeal") == NULL)
        return;
    calls++;
    dprintf(STDERR_FILENO, "the layer calls the program's %s\n", name);
}

#define PM_LIBM(result, name, parameters, arguments)                                               \
    __attribute__((visibility("default"))) result name parameters;                                 \
    result name parameters                                                                         \
    {                                                                                              \
        note(#name, __builtin_return_address(0));                                                  \
        result(*its) parameters;                                                                   \
        *(void **)&its = dlsym(dlopen(LIBM_SO, RTLD_LAZY | RTLD_NOLOAD), #name);                   \
        return its arguments;                                                                      \
    }
#include "layer/hooks/libm_names.h"
