/*
 * What encoding and decoding of profiles and databases share. Private to profile/.
 *
 * Thread safety: no state but what the caller holds.
 */
#pragma once

#include "piecemeal.pb-c.h"
#include "profile/profile.h"

/* An allocator for protobuf-c that stops at a cap: a message of two-byte fields would else grow a
 * hundredfold. What it gave is freed all at once, so that an unpacked message need not be. */
struct pm_bounded {
    ProtobufCAllocator allocator;
    struct pm_arena *arena;
};
/* wire_bytes: the size of the encoding that is going to be unpacked. The struct must not move while
 * it is used. */
void pm_bounded_init(struct pm_bounded *bounded, size_t wire_bytes);
void pm_bounded_finish(struct pm_bounded *bounded);

/* Orders by key, environment, kind, flags, as lists of shaders are sorted: < 0, 0, > 0. */
int pm_identity_compare(const struct pm_shader_key *a_key,
                        const struct pm_environment *a_environment, enum pm_kind a_kind,
                        uint32_t a_flags, const struct pm_shader_key *b_key,
                        const struct pm_environment *b_environment, enum pm_kind b_kind,
                        uint32_t b_flags);

/* Bytes of a bitmap of `space` bits. */
static inline size_t pm_bitmap_bytes(uint32_t space)
{
    return ((size_t)space + 7) / 8;
}

/* Are the bits behind the last of `space` 0? */
bool pm_bitmap_is_tidy(const uint8_t *bitmap, uint32_t space);

/* A reason why (environment, kind, flags, space, original) cannot be, NULL when they can. */
const char *pm_identity_wrong(const struct pm_environment *environment, uint32_t kind,
                              uint32_t flags, uint32_t space, const struct pm_shader_key *original);

/* Takes a key from field `field` of the message `what`. */
bool pm_key_take(const ProtobufCBinaryData *bytes, const char *what, const char *field,
                 struct pm_shader_key *key, struct pm_error *error);
/* The same where it may be missing: then it is none. */
bool pm_key_take_optional(const ProtobufCBinaryData *bytes, const char *what, const char *field,
                          struct pm_shader_key *key, struct pm_error *error);
/* What to pack of a key, which must live until then; nothing of none. */
ProtobufCBinaryData pm_key_bytes(const struct pm_shader_key *key);

/* Fails when a message carries a field that this version does not know. what: "profile", "shader
 * 3". */
bool pm_no_unknown_fields(const ProtobufCMessage *message, const char *what,
                          struct pm_error *error);

/* Appends the message's encoding. what: "profile". PM_ERROR_LIMIT: it has more than `most` bytes.
 */
bool pm_message_append(const ProtobufCMessage *message, size_t most, const char *what,
                       struct pm_buffer *out, struct pm_error *error);

struct pm_environment pm_environment_of(const Piecemeal__Environment *message);
void pm_environment_fill(Piecemeal__Environment *message, const struct pm_environment *environment);
