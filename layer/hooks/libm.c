#include "layer/hooks/libm.h"

#include <dlfcn.h>
#include <stddef.h>

static struct {
#define PM_LIBM(result, name, parameters, arguments) result(*name) parameters;
#include "layer/hooks/libm_names.h"
#undef PM_LIBM
} libm;

static bool found;

/* Before any constructor of what else is in the layer. The layer needs libm, so it is there, and
 * stays for as long as the layer does. A handle is looked at before all programs' names: what is
 * found is libm's, or of a library that libm needs. */
__attribute__((constructor(101))) static void find(void)
{
    void *library = dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (library == NULL)
        return;
    bool all = true;
#define PM_LIBM(result, name, parameters, arguments)                                               \
    *(void **)&libm.name = dlsym(library, #name);                                                  \
    all = all && libm.name != NULL;
#include "layer/hooks/libm_names.h"
#undef PM_LIBM
    found = all;
    dlclose(library);
}

bool pm_libm_found(void)
{
    return found;
}

/* What the linker takes for a name. */
#define PM_LIBM(result, name, parameters, arguments)                                               \
    result __wrap_##name parameters;                                                               \
    result __wrap_##name parameters                                                                \
    {                                                                                              \
        return libm.name arguments;                                                                \
    }
#include "layer/hooks/libm_names.h"
