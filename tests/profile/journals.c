#include "tests/profile/journals.h"

#include "tests/cmocka_includes.h"
#include "tests/temporary.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GAME "A Game"

char journals_home[96];
struct pm_journal_state journals_state;

int journals_set_up(void **unused)
{
    (void)unused;
    temporary_make(journals_home, sizeof journals_home);
    return 0;
}

int journals_tear_down(void **unused)
{
    (void)unused;
    temporary_remove(journals_home);
    return 0;
}

struct pm_shader_key journals_key(uint8_t name)
{
    struct pm_shader_key key;
    memset(key.bytes, name, sizeof key.bytes);
    return key;
}

struct pm_journal *journals_begin(void)
{
    struct pm_error error = {0};
    struct pm_journal *journal = pm_journal_open(journals_home, GAME, &journals_state, &error);
    if (!journal)
        fail_msg("%s", error.message);
    pm_journal_begin(journal);
    return journal;
}

bool journals_holds(const struct pm_journal *journal, uint8_t name)
{
    const struct pm_shader_key variant = journals_key(name);
    return pm_journal_holds(journal, &variant);
}

void journals_use(struct pm_journal *journal, const char *names)
{
    for (; *names; names++) {
        const struct pm_shader_key variant = journals_key((uint8_t)*names);
        if (pm_journal_holds(journal, &variant))
            continue;
        struct pm_journal_entry *entry = pm_journal_write(journal, &variant, NULL);
        assert_non_null(entry);
        assert_ptr_equal(entry, pm_journal_write(journal, &variant, NULL));
        pm_journal_used(entry);
    }
}

void journals_killed_after(void (*act)(const char *names), const char *names)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        act(names);
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

size_t journals_find(char path[JOURNALS_PATH])
{
    char folder[160];
    size_t count = 0;
    snprintf(folder, sizeof folder, "%s/A%%20Game", journals_home);
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (!strstr(entry->d_name, ".session"))
            continue;
        snprintf(path, JOURNALS_PATH, "%s/%s", folder, entry->d_name);
        count++;
    }
    closedir(directory);
    return count;
}

void journals_assert_held(const char *expected)
{
    struct pm_error error = {0};
    struct pm_journal *journal = pm_journal_open(journals_home, GAME, &journals_state, &error);
    assert_non_null(journal);
    char held[5] = "";
    size_t count = 0;
    for (uint8_t name = 'a'; name <= 'd'; name++) {
        if (journals_holds(journal, name))
            held[count++] = (char)name;
    }
    pm_journal_close(journal);
    assert_string_equal(held, expected);
}
