/*
 * What each address (of IPv6: each /64) and each token holds of the service just now: connections,
 * and bytes of requests. A share is there as long as somebody holds it, under a keyed hash of its
 * name, in memory alone.
 *
 * Thread safety: any thread.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sockaddr;

enum pm_share_kind { PM_SHARE_ADDRESS, PM_SHARE_TOKEN, PM_SHARE_KINDS };

struct pm_share {
    struct pm_share *next; /* in its chain */
    uint64_t name;         /* a hash */
    enum pm_share_kind kind;
    uint32_t references;  /* under the mutex */
    uint32_t connections; /* under the mutex */
    atomic_size_t bytes;  /* of requests */
};

#define PM_SHARE_CHAINS 4096
struct pm_shares {
    size_t most_bytes[PM_SHARE_KINDS]; /* of one of that kind; 0: any */
    uint32_t most_connections;         /* of one address; 0: any */
    uint64_t secret;
    pthread_mutex_t mutex;
    struct pm_share **chains;
};

/* The limits are the caller's to fill in. false: out of memory. */
bool pm_shares_init(struct pm_shares *shares);
void pm_shares_finish(struct pm_shares *shares);

/* The bytes of a peer's address that tell who it is: of an IPv6 address the network, whose owner
 * has all the rest. How many; 0: it has none (*bytes is not written then). */
size_t pm_share_address(const struct sockaddr *address, const void **bytes);

/* A reference to the share of this name; connections: counted as one more connection, until it is
 * dropped as one. NULL: it has no name (size 0), or there is no memory; then nothing is counted. */
struct pm_share *pm_shares_take(struct pm_shares *shares, enum pm_share_kind kind, const void *name,
                                size_t size, bool connection);
/* NULL is allowed. */
void pm_shares_drop(struct pm_shares *shares, struct pm_share *share, bool connection);

/* May this address have one more connection? */
bool pm_shares_may_connect(struct pm_shares *shares, const void *name, size_t size);

/* So many bytes more; false: that would be too much, and nothing is added. NULL: any. */
bool pm_share_hold(const struct pm_shares *shares, struct pm_share *share, size_t bytes);
void pm_share_release(struct pm_share *share, size_t bytes);
