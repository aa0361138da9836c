/*
 * Who calls a hook: overlays above us (MangoHud, Steam's, Mesa's) make pipelines of their own on
 * the game's device (lsfg-vk on one of its own), which are none of the game's. They are known by
 * the library that the call comes from; none of those in the list passes the game's pipelines on
 * through itself. Where another layer stands between an overlay and us, the call comes from that
 * one: the overlay is not seen.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stdbool.h>

/* Whether the address, a hook's return address, is an overlay's. Some microseconds. */
bool pm_caller_is_overlay(const void *address);
