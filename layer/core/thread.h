/*
 * Threads of ours in a game's process (HAZARDS 19): the lowest priority (but see compiler.h), and
 * no signals but those that a thread's own fault raises. Those must reach the process's handler,
 * since a layer beside us may have one for memory it watches (gfxreconstruct does), and the kernel
 * ends a process that blocks them.
 *
 * Thread safety: any thread.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts run(user) on a thread with a stack of so many bytes; name: at most 15 characters. false:
 * the system refused. */
bool pm_thread_start(pthread_t *thread, size_t stack, const char *name, void *(*run)(void *user),
                     void *user);

/* Lowers the calling thread's priority; niceness 1 to 19. */
void pm_thread_lower(int niceness);
