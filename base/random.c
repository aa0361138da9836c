#include "base/random.h"
#include <errno.h>
#include <sys/random.h>

uint64_t pm_random_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t value, int bits)
{
    return (value << bits) | (value >> (64 - bits));
}

void pm_random_init(struct pm_random *random, uint64_t seed)
{
    for (int i = 0; i < 4; i++)
        random->state[i] = pm_random_mix(seed += 0x9E3779B97F4A7C15u);
}

uint64_t pm_random_next(struct pm_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double pm_random_unit(struct pm_random *random)
{
    return (double)(pm_random_next(random) >> 11) * 0x1p-53;
}

uint32_t pm_random_below(struct pm_random *random, uint32_t bound)
{
    /* Lemire 2019, "Fast random integer generation in an interval": the high half of a product,
     * rejecting the few low halves that would make some results likelier. */
    uint64_t product = (pm_random_next(random) >> 32) * bound;
    if ((uint32_t)product < bound) {
        uint32_t threshold = (0u - bound) % bound;
        while ((uint32_t)product < threshold)
            product = (pm_random_next(random) >> 32) * bound;
    }
    return (uint32_t)(product >> 32);
}

bool pm_random_system(void *out, size_t size)
{
    unsigned char *bytes = out;
    while (size > 0) {
        ssize_t n = getrandom(bytes, size, 0);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            return false;
        }
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}
