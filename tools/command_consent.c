#include "tools/command_consent.h"
#include "aggregator_client/client.h"
#include "tools/common/tool.h"
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: piecemeal consent grant|revoke|show\n\n"
    "  grant   uploads may leave this machine (only where the config names an aggregator)\n"
    "  revoke  nothing leaves any more; what is spooled stays here until it is overwritten\n"
    "  show    print granted, revoked or unasked\n\n"
    "What would leave: `piecemeal sync --dry-run` prints it, byte for byte as JSON: counters of "
    "shaders, the game's\n"
    "name, a scene's name where one is configured, and the layer's version. No address, user or "
    "machine name.\n";

int pm_command_consent(int argc, char **argv)
{
    struct pm_error error = {0};
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(help, stdout);
        return PM_EXIT_OK;
    }
    if (argc != 2)
        return pm_tool_usage("consent", "takes grant, revoke or show");
    if (!strcmp(argv[1], "show")) {
        enum pm_consent consent;
        if (!pm_consent_read(&consent, &error))
            return pm_tool_failed("consent", &error);
        puts(consent == PM_CONSENT_GRANTED   ? "granted"
             : consent == PM_CONSENT_REVOKED ? "revoked"
                                             : "unasked");
        return PM_EXIT_OK;
    }
    bool grant = !strcmp(argv[1], "grant");
    if (!grant && strcmp(argv[1], "revoke") != 0)
        return pm_tool_usage("consent", "unknown word '%s'", argv[1]);
    if (!pm_consent_write(grant ? PM_CONSENT_GRANTED : PM_CONSENT_REVOKED, &error))
        return pm_tool_failed("consent", &error);
    return PM_EXIT_OK;
}
