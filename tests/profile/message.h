/* A message as a client sends it, for tests to change. */
#pragma once

#include "piecemeal.pb-c.h"
#include "profile/profile.h"

/* One valid message of two shaders, which each case then spoils. */
struct message {
    Piecemeal__Profile profile;
    Piecemeal__ShaderProfile shader[2], *list[2];
    Piecemeal__Environment environment[2];
    uint8_t id[16], key[2][24], bitmap[2];
    uint32_t point[2][3], calls[2][3];
    uint64_t lanes[2][3], subgroups[2][3], counts[2][9], alone[2][3];
    uint32_t left_alone[PM_LEFT_ALONE_WHYS + 1];
    ProtobufCMessageUnknownField unknown;
};

void message_init(struct message *f);
/* The second shader as a good profile of another kind. */
void message_make_zero(struct message *f);
void message_make_timing(struct message *f);
void message_make_constant(struct message *f);
