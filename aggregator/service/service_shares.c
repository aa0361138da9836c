#include "aggregator/service/service_shares.h"

#include "base/random.h"
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

bool pm_shares_init(struct pm_shares *shares)
{
    pthread_mutex_init(&shares->mutex, NULL);
    shares->chains = calloc(PM_SHARE_CHAINS, sizeof(*shares->chains));
    return shares->chains && pm_random_system(&shares->secret, sizeof(shares->secret));
}

void pm_shares_finish(struct pm_shares *shares)
{
    for (size_t i = 0; shares->chains && i < PM_SHARE_CHAINS; i++) {
        for (struct pm_share *share = shares->chains[i], *next; share; share = next) {
            next = share->next;
            free(share);
        }
    }
    free(shares->chains);
    shares->chains = NULL;
    pthread_mutex_destroy(&shares->mutex);
}

size_t pm_share_address(const struct sockaddr *address, const void **bytes)
{
    if (address && address->sa_family == AF_INET) {
        *bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
        return sizeof(struct in_addr);
    }
    if (address && address->sa_family == AF_INET6) {
        const struct in6_addr *all =
            &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        *bytes = IN6_IS_ADDR_V4MAPPED(all) ? &all->s6_addr[12] : all->s6_addr;
        return IN6_IS_ADDR_V4MAPPED(all) ? 4 : 8;
    }
    return 0;
}

static uint64_t hash_of(const struct pm_shares *shares, enum pm_share_kind kind, const void *name,
                        size_t size)
{
    return XXH3_64bits_withSeed(name, size, shares->secret + kind);
}

/* With the mutex held. */
static struct pm_share *find(const struct pm_shares *shares, enum pm_share_kind kind, uint64_t hash)
{
    struct pm_share *share = shares->chains[hash % PM_SHARE_CHAINS];
    while (share && (share->name != hash || share->kind != kind))
        share = share->next;
    return share;
}

struct pm_share *pm_shares_take(struct pm_shares *shares, enum pm_share_kind kind, const void *name,
                                size_t size, bool connection)
{
    if (size == 0)
        return NULL;
    const uint64_t hash = hash_of(shares, kind, name, size);
    pthread_mutex_lock(&shares->mutex);
    struct pm_share *share = find(shares, kind, hash);
    if (!share) {
        share = calloc(1, sizeof(*share));
        if (share) {
            struct pm_share **chain = &shares->chains[hash % PM_SHARE_CHAINS];
            share->name = hash;
            share->kind = kind;
            share->next = *chain;
            *chain = share;
        }
    }
    if (share) {
        share->references++;
        share->connections += connection;
    }
    pthread_mutex_unlock(&shares->mutex);
    return share;
}

void pm_shares_drop(struct pm_shares *shares, struct pm_share *share, bool connection)
{
    if (!share)
        return;
    pthread_mutex_lock(&shares->mutex);
    share->connections -= connection;
    if (--share->references == 0) {
        struct pm_share **at = &shares->chains[share->name % PM_SHARE_CHAINS];
        while (*at != share)
            at = &(*at)->next;
        *at = share->next;
        free(share);
    }
    pthread_mutex_unlock(&shares->mutex);
}

bool pm_shares_may_connect(struct pm_shares *shares, const void *name, size_t size)
{
    if (shares->most_connections == 0 || size == 0)
        return true;
    const uint64_t hash = hash_of(shares, PM_SHARE_ADDRESS, name, size);
    pthread_mutex_lock(&shares->mutex);
    const struct pm_share *share = find(shares, PM_SHARE_ADDRESS, hash);
    const bool may = !share || share->connections < shares->most_connections;
    pthread_mutex_unlock(&shares->mutex);
    return may;
}

bool pm_share_hold(const struct pm_shares *shares, struct pm_share *share, size_t bytes)
{
    if (!share)
        return true;
    const size_t most = shares->most_bytes[share->kind];
    if (atomic_fetch_add(&share->bytes, bytes) + bytes <= most || most == 0)
        return true;
    atomic_fetch_sub(&share->bytes, bytes);
    return false;
}

void pm_share_release(struct pm_share *share, size_t bytes)
{
    if (share)
        atomic_fetch_sub(&share->bytes, bytes);
}
