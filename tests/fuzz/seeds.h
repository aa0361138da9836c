/* Inputs that several targets start from. */
#pragma once

/* A profile of one shader with two points, as it is encoded: 86 bytes. */
#define PM_FUZZ_PROFILE                                                                            \
    "\x08\x01\x12\x10"                                                                             \
    "0123456789abcdef"                                                                             \
    "\x1a\x01g\x32\x3d\x0a\x18"                                                                    \
    "0123456789abcdef01234567"                                                                     \
    "\x12\x02\x08\x08\x18\x01\x28\x04\x32\x01\x01\x3a\x02\x00\x02\x42\x02\x01\x01\x4a\x02\x20\x20" \
    "\x52\x02"                                                                                     \
    "\x04\x04\x5a\x06\x20\x20\x04\x10\x00\x02"

/* The same where lanes were counted alone: 90 bytes. */
#define PM_FUZZ_ALONE                                                                              \
    "\x08\x01\x12\x10"                                                                             \
    "0123456789abcdef"                                                                             \
    "\x1a\x01g\x32\x41\x0a\x18"                                                                    \
    "0123456789abcdef01234567"                                                                     \
    "\x12\x02\x08\x08\x18\x01\x28\x04\x32\x01\x01\x3a\x02\x00\x02\x42\x02\x01\x01\x4a\x02\x20\x20" \
    "\x52\x02"                                                                                     \
    "\x00\x04\x5a\x06\x20\x00\x00\x10\x00\x02\x72\x02\x20\x04"
