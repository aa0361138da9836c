/*
 * What encoding and decoding of profiles and databases share. Private to profile/.
 *
 * Thread safety: no state but what the caller holds.
 */
#pragma once

#include "piecemeal.pb-c.h"
#include "profile/profile.h"

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

/* ---- reading ---- */

struct pm_message_kind {
    const ProtobufCMessageDescriptor *descriptor;
    const char *what; /* "profile": what errors begin with */
    const char *name; /* "piecemeal profile": what other bytes are not */
};
/* The message lives until it returns. */
typedef bool (*pm_message_taker)(void *user, const ProtobufCMessage *message,
                                 struct pm_error *error);
/* Unpacks an encoding of at most `most` bytes and hands the message to take. Its memory is bounded
 * by the encoding's size: a message of two-byte fields would else grow a hundredfold. */
bool pm_message_read(const struct pm_message_kind *kind, const void *data, size_t size, size_t most,
                     pm_message_taker take, void *user, struct pm_error *error);

/* Is the version the one that is known, and has the message no fields that are not? */
bool pm_version_check(const ProtobufCMessage *message, uint32_t version, uint32_t known,
                      struct pm_error *error);

/* What names a shader in either message. */
struct pm_wire_shader {
    const ProtobufCMessage *message;
    const Piecemeal__Environment *environment; /* may be NULL */
    const ProtobufCBinaryData *key, *original; /* original: empty where it is missing */
};
/* Takes it, and refuses fields that are not known. what: "shader 3". */
bool pm_wire_shader_take(const struct pm_wire_shader *from, const char *what,
                         struct pm_shader_key *key, struct pm_environment *environment,
                         struct pm_shader_key *original, struct pm_error *error);

/* Takes a bitmap of `space` bits from field `field`; *bitmap is the arena's, or stays where the
 * field is empty. */
bool pm_bitmap_take(const ProtobufCBinaryData *bytes, uint32_t space, const char *what,
                    const char *field, struct pm_arena *arena, const uint8_t **bitmap,
                    struct pm_error *error);

/* Has the column as many elements as are needed? */
bool pm_column_check(const char *what, const char *field, size_t has, size_t need,
                     struct pm_error *error);

/* ---- writing ---- */

/* What to pack of bytes, which must live until then. */
ProtobufCBinaryData pm_bytes_pack(const void *bytes, size_t size);
/* The same of a key; nothing of none. */
ProtobufCBinaryData pm_original_pack(const struct pm_shader_key *key);

/* Appends the message's encoding. what: "profile". PM_ERROR_LIMIT: it has more than `most` bytes.
 */
bool pm_message_append(const ProtobufCMessage *message, size_t most, const char *what,
                       struct pm_buffer *out, struct pm_error *error);

/* A message of the environment, the arena's; NULL: out of memory. */
Piecemeal__Environment *pm_environment_pack(const struct pm_environment *environment,
                                            struct pm_arena *arena);
