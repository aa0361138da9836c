/*
 * Tells the service manager how the process is (sd_notify(3), the protocol only: a datagram to the
 * socket that NOTIFY_SOCKET names). Does nothing without one.
 */
#pragma once

/* state: "READY=1", "STOPPING=1", …; several with newlines between. */
void pm_notify(const char *state);
