#include "aggregator/service/service_listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static struct addrinfo *resolve(const struct pm_service_info *info, struct pm_error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_NUMERICHOST | AI_PASSIVE};
    const char *address = info->address ? info->address : "127.0.0.1";
    struct addrinfo *found = NULL;
    char port[8];
    snprintf(port, sizeof(port), "%u", info->port);
    const int code = getaddrinfo(address, port, &hints, &found);
    if (code == 0)
        return found;
    pm_fail(error, PM_ERROR_INPUT, "address: \"%s\" is no numeric address (%s)", address,
            gai_strerror(code));
    return NULL;
}

int pm_service_listen(const struct pm_service_info *info, struct pm_error *error)
{
    const int one = 1;
    struct addrinfo *address = resolve(info, error);
    if (!address)
        return -1;
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
                          address->ai_protocol);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(fd, address->ai_addr, address->ai_addrlen) != 0 || listen(fd, SOMAXCONN) != 0) {
        const int why = errno;
        pm_fail_errno(error, why, "cannot listen on %s, port %u",
                      info->address ? info->address : "127.0.0.1", info->port);
        if (why == EADDRINUSE && error)
            error->code = PM_ERROR_STATE;
        freeaddrinfo(address);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    freeaddrinfo(address);
    return fd;
}

uint16_t pm_service_port_of(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    char port[8];
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0 ||
        getnameinfo((struct sockaddr *)&address, size, NULL, 0, port, sizeof(port),
                    NI_NUMERICSERV) != 0)
        return 0;
    return (uint16_t)atoi(port);
}

bool pm_service_is_loopback(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    if (getsockname(fd, (struct sockaddr *)&address, &size) != 0)
        return false;
    if (address.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&((struct sockaddr_in6 *)&address)->sin6_addr);
    return address.ss_family == AF_INET &&
           ntohl(((struct sockaddr_in *)&address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}
