/* The main program of Wine's tests, built by suites.sh, with what Wine's own build has besides.
 * suites.h names their files: TEST(visual)… */
#include <windows.h>

#define STANDALONE
#include "wine/test.h"

#define TEST(name) extern void func_##name(void);
#include "suites.h"
#undef TEST

const struct test winetest_testlist[] = {
#define TEST(name) {#name, func_##name},
#include "suites.h"
    {NULL, NULL},
};

/* Whether a test is to run: PM_WINE_TEST has its name, as in "test_blend+test_fog", or is not
 * there. */
int pm_wanted(const char *name)
{
    char wanted[4096];
    const DWORD length = GetEnvironmentVariableA("PM_WINE_TEST", wanted, sizeof(wanted));
    if (!length || length >= sizeof(wanted))
        return 1;
    const size_t size = strlen(name);
    for (const char *at = wanted; (at = strstr(at, name)) != NULL; at += size)
        if ((at == wanted || at[-1] == '+') && (at[size] == '+' || !at[size]))
            return 1;
    return 0;
}

/* Wine's libwinecrt0 has it: for what is printed at once. */
const char *__cdecl __wine_dbg_strdup(const char *text)
{
    return strdup(text);
}
