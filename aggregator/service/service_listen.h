/*
 * The socket that the service listens on: made here, since libmicrohttpd would not say why it
 * cannot.
 *
 * Thread safety: no state.
 */
#pragma once

#include "aggregator/service/service.h"

/* A socket that listens on the address, or -1; PM_ERROR_STATE when it is taken. */
int pm_service_listen(const struct pm_service_info *info, struct pm_error *error);
/* 0: it cannot be told. */
uint16_t pm_service_port_of(int fd);
/* Can only this machine reach it? */
bool pm_service_is_loopback(int fd);
