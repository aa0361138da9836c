/* The memory that requests hold: of one token, of one address, of all. */
#include "aggregator/service/service_state.h"

/* What was added to the token, the address and the service by as much as `done` says. */
static void give_back(struct pm_request *request, struct pm_peer *peer, enum pm_hold done,
                      size_t bytes)
{
    if (done == PM_HOLD_DONE)
        atomic_fetch_sub(&request->service->held, bytes);
    if (done == PM_HOLD_DONE || done == PM_HOLD_ALL)
        pm_share_release(peer ? peer->address : NULL, bytes);
    if (done != PM_HOLD_TOKEN)
        pm_share_release(request->token, bytes);
}

static enum pm_hold take(struct pm_request *request, struct pm_peer *peer, size_t bytes)
{
    struct pm_service *service = request->service;
    enum pm_hold done = PM_HOLD_DONE;
    if (!pm_share_hold(&service->shares, request->token, bytes)) {
        done = PM_HOLD_TOKEN;
    } else if (!pm_share_hold(&service->shares, peer ? peer->address : NULL, bytes)) {
        done = PM_HOLD_ADDRESS;
    } else if (atomic_fetch_add(&service->held, bytes) + bytes > service->memory_bytes) {
        atomic_fetch_sub(&service->held, bytes);
        done = PM_HOLD_ALL;
    }
    if (done != PM_HOLD_DONE)
        give_back(request, peer, done, bytes);
    return done;
}

enum pm_hold pm_hold(struct pm_request *request, size_t bytes)
{
    struct pm_peer *peer = pm_peers_of(request->connection);
    enum pm_hold done = PM_HOLD_DONE;
    if (bytes > request->held)
        done = take(request, peer, bytes - request->held);
    else
        give_back(request, peer, done, request->held - bytes);
    if (done == PM_HOLD_ALL)
        pm_peers_shed(request->service, request);
    if (done != PM_HOLD_DONE)
        return done;
    request->held = bytes;
    if (peer)
        atomic_store(&peer->held, bytes);
    return done;
}
