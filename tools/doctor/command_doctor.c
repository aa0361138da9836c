#include "tools/doctor/command_doctor.h"
#include "aggregator_client/client.h"
#include "base/file.h"
#include "profile/journal.h"
#include "profile/left_alone.h"
#include "tools/common/held_back.h"
#include "tools/common/options.h"
#include "tools/common/tool.h"
#include "tools/doctor/doctor_config.h"
#include "tools/doctor/doctor_devices.h"
#include "tools/doctor/doctor_loader.h"
#include "tools/doctor/doctor_places.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: piecemeal doctor [--game NAME] [--config FILE] [--json]\n\n"
    "Says what this machine's drivers and loader support, and why not; and what "
    "the next session of a game\nis going to use, of every game that has a "
    "config where none is named. Ends with 1 when something\nis wrong.\n";

static void check_spool(struct pm_doctor *doctor)
{
    struct pm_error error = {0};
    struct pm_spool_session *sessions = NULL;
    size_t count = 0, waiting = 0;
    uint64_t bytes = 0;
    if (!pm_spool_list(NULL, &sessions, &count, &error)) {
        pm_doctor_say(doctor, PM_FINDING_BAD, "spool", "%s", error.message);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        waiting += !sessions[i].live;
        bytes += sessions[i].live ? 0 : sessions[i].bytes;
    }
    pm_doctor_say(doctor, PM_FINDING_OK, "spool", "%zu session%s wait%s, %llu bytes", waiting,
                  waiting == 1 ? "" : "s", waiting == 1 ? "s" : "", (unsigned long long)bytes);
    pm_spool_list_free(sessions, count);
}

struct held {
    struct pm_doctor *doctor;
    unsigned games; /* of which something is held back, or left alone */
};

static void say_held(const char *path, const char *game, const struct pm_journal_state *state,
                     void *user)
{
    struct held *held = user;
    if (state->damaged.code != PM_OK)
        pm_doctor_say(held->doctor, PM_FINDING_NOTE, "safe mode", "ignored: %s",
                      state->damaged.message);
    if (!pm_held_back_any(state))
        return;
    char *text = pm_held_back(state, path, NULL, false);
    held->games++;
    pm_doctor_say(held->doctor, PM_FINDING_NOTE, "safe mode", "%s%s", game,
                  text ? text : ": some specialized shaders are held back");
    free(text);
}

static void check_journal(struct pm_doctor *doctor)
{
    struct held held = {.doctor = doctor};
    struct pm_error error = {0};
    if (!pm_journal_each(NULL, say_held, &held, &error))
        pm_doctor_say(doctor, PM_FINDING_BAD, "safe mode", "%s", error.message);
    else if (held.games == 0)
        pm_doctor_say(doctor, PM_FINDING_OK, "safe mode", "no specialized shader is held back");
}

static void say_left_alone(void *user, const struct pm_left_alone *left)
{
    struct held *held = user;
    struct pm_arena *arena = pm_arena_create(0);
    const char *text = arena ? pm_left_alone_describe(left, arena) : NULL;
    held->games++;
    pm_doctor_say(held->doctor, PM_FINDING_NOTE, "shaders", "%s: %s", left->game,
                  text ? text : "some are left alone");
    pm_arena_destroy(arena);
}

static void check_left_alone(struct pm_doctor *doctor)
{
    struct held held = {.doctor = doctor};
    struct pm_error error = {0};
    if (!pm_left_alone_each(NULL, 0, say_left_alone, &held, &error))
        pm_doctor_say(doctor, PM_FINDING_BAD, "shaders", "%s", error.message);
    else if (held.games == 0)
        pm_doctor_say(doctor, PM_FINDING_OK, "shaders",
                      "none of a game that ran here had to be left alone");
}

int pm_command_doctor(int argc, char **argv)
{
    struct pm_doctor doctor = {0};
    const char *game = NULL, *path = NULL;
    const struct pm_option options[] = {PM_OPTION_TEXT("game", &game),
                                        PM_OPTION_TEXT("config", &path),
                                        PM_OPTION_FLAG("json", &doctor.json)};
    const int status = pm_tool_options("doctor", help, options,
                                       sizeof(options) / sizeof(options[0]), argc, argv, NULL);
    if (status >= 0)
        return status;
    doctor.list = doctor.json ? cJSON_CreateArray() : NULL;
    pm_doctor_loader(&doctor);
    pm_doctor_devices(&doctor);
    pm_doctor_config(&doctor, game, path);
    pm_doctor_places(&doctor);
    check_spool(&doctor);
    check_journal(&doctor);
    check_left_alone(&doctor);
    if (doctor.json) {
        char *text = cJSON_Print(doctor.list);
        if (text)
            puts(text);
        cJSON_free(text);
        cJSON_Delete(doctor.list);
    } else if (doctor.bad == 0) {
        puts("\nNothing stands in the way.");
    } else {
        printf("\n%u %s the way: see BAD above.\n", doctor.bad,
               doctor.bad == 1 ? "thing stands in" : "things stand in");
    }
    return doctor.bad ? PM_EXIT_FAILED : PM_EXIT_OK;
}
