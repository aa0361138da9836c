/*
 * The log's way to a game's debug-utils messengers. The loader (1.3.239) holds its lock while an
 * instance or device is created or destroyed and takes the same lock to hand out a message: one
 * sent from there, or from a thread that a destroy waits for, would never return (seen). So
 * messages wait here, and hooks of calls that the loader does not lock around hand them out, on the
 * game's own thread.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "base/log.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct pm_instance;

enum { PM_MESSAGES = 64 }; /* the most that wait; further ones are in the log only */

struct pm_messages {
    _Atomic uint32_t count; /* of the two below; read without the lock */
    pthread_mutex_t lock;
    enum pm_log_level levels[PM_MESSAGES];
    char *texts[PM_MESSAGES];
};

void pm_messages_init(struct pm_messages *messages);
void pm_messages_finish(struct pm_messages *messages);

/* A pm_log_callback; user is the struct pm_messages. */
void pm_messages_post(void *user, enum pm_log_level level, const char *message);

/* Hands out what waits, nearly always nothing. Not inside vkCreate- or vkDestroyInstance or
 * -Device, nor on a thread of the layer's. */
void pm_messages_deliver(struct pm_instance *instance);
