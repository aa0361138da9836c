#include "profile/wire.h"
#include "profile/variant_point.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- unpacking ---- */

static void *bounded_alloc(void *user, size_t size)
{
    return user ? pm_arena_alloc(user, size) : NULL;
}

static void bounded_free(void *user, void *pointer)
{
    (void)user;
    (void)pointer;
}

/* A varint at *at, which is moved behind it; false: there is none. */
static bool read_varint(const uint8_t *data, size_t size, size_t *at, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < size; shift += 7) {
        const uint8_t byte = data[(*at)++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return true;
    }
    return false;
}

/* A text with a zero byte in it would end there for whoever reads it as a string, and be another to
 * whoever does not. Looks at the message's own fields. NULL: none has one; else the field. */
static const char *cut_text(const ProtobufCMessageDescriptor *descriptor, const uint8_t *data,
                            size_t size)
{
    enum { VARINT, EIGHT, LENGTH, FOUR = 5 };
    for (size_t at = 0; at < size;) {
        uint64_t tag, length = 0;
        if (!read_varint(data, size, &at, &tag) ||
            ((tag & 7) <= LENGTH && (tag & 7) != EIGHT && !read_varint(data, size, &at, &length)))
            return NULL;
        if ((tag & 7) == LENGTH) {
            const ProtobufCFieldDescriptor *field =
                protobuf_c_message_descriptor_get_field(descriptor, (unsigned)(tag >> 3));
            if (length > size - at)
                return NULL;
            if (field && field->type == PROTOBUF_C_TYPE_STRING &&
                memchr(data + at, 0, (size_t)length))
                return field->name;
            at += (size_t)length;
        } else {
            at += (tag & 7) == EIGHT ? 8 : (tag & 7) == FOUR ? 4 : 0;
        }
    }
    return NULL;
}

bool pm_message_read(const struct pm_message_kind *kind, const void *data, size_t size, size_t most,
                     pm_message_taker take, void *user, struct pm_error *error)
{
    if (size > most)
        return pm_fail(error, PM_ERROR_INPUT, "%s: %zu bytes, more than %zu", kind->what, size,
                       most);
    const char *cut = cut_text(kind->descriptor, data, size);
    if (cut)
        return pm_fail(error, PM_ERROR_INPUT, "%s: field %s has a zero byte", kind->what, cut);
    /* A shader without points grows about tenfold, one with points less. What the arena gave is
     * freed with it, so that the message need not be. */
    struct pm_arena *arena =
        pm_arena_create(((size_t)64 << 10) + (size < SIZE_MAX / 32 ? size * 24 : SIZE_MAX / 2));
    ProtobufCAllocator allocator = {bounded_alloc, bounded_free, arena};
    const ProtobufCMessage *message =
        protobuf_c_message_unpack(kind->descriptor, &allocator, size, data);
    const bool taken = message
                           ? take(user, message, error) || pm_fail_prefix(error, "%s", kind->what)
                           : pm_fail(error, PM_ERROR_INPUT, "%s: %zu bytes that are no %s",
                                     kind->what, size, kind->name);
    pm_arena_destroy(arena);
    return taken;
}

/* ---- what is sorted and checked ---- */

static int compare_u32(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

int pm_identity_compare(const struct pm_shader_key *a_key,
                        const struct pm_environment *a_environment, enum pm_kind a_kind,
                        uint32_t a_flags, const struct pm_shader_key *b_key,
                        const struct pm_environment *b_environment, enum pm_kind b_kind,
                        uint32_t b_flags)
{
    int order = memcmp(a_key->bytes, b_key->bytes, sizeof(a_key->bytes));
    if (order == 0)
        order = compare_u32(a_environment->subgroup_size, b_environment->subgroup_size);
    if (order == 0)
        order = compare_u32(a_environment->vendor_id, b_environment->vendor_id);
    if (order == 0)
        order = compare_u32(a_environment->device_id, b_environment->device_id);
    if (order == 0)
        order = compare_u32(a_environment->driver_id, b_environment->driver_id);
    if (order == 0)
        order = compare_u32(a_environment->driver_version, b_environment->driver_version);
    if (order == 0)
        order = compare_u32(a_kind, b_kind);
    if (order == 0)
        order = compare_u32(a_flags, b_flags);
    return order;
}

bool pm_bitmap_is_tidy(const uint8_t *bitmap, uint32_t space)
{
    return space % 8 == 0 || (bitmap[space / 8] >> (space % 8)) == 0;
}

const char *pm_identity_wrong(const struct pm_environment *environment, uint32_t kind,
                              uint32_t flags, uint32_t space, const struct pm_shader_key *original)
{
    uint32_t subgroup = environment->subgroup_size;
    if (kind < PM_KIND_BLOCK || kind > PM_KIND_LAST)
        return "field kind is not known to this version";
    if (flags & ~(uint32_t)(PM_PROFILE_OCCLUDED | PM_PROFILE_NO_QUADS))
        return "field flags has bits not known to this version";
    if ((flags & PM_PROFILE_NO_QUADS) && kind != PM_KIND_ZERO)
        return "field flags speaks of quads, which only zero profiles may";
    if (space == 0)
        return "field space is 0";
    if (subgroup == 0 || subgroup > 128 || (subgroup & (subgroup - 1)) != 0)
        return "field environment.subgroup_size is not a power of two from 1 to 128";
    if (kind == PM_KIND_TIMING) {
        if (flags != 0)
            return "field flags is not 0, and it is a timing profile";
        return space == 1 ? NULL : "field space is not 1, and it is a timing profile";
    }
    if (!pm_shader_key_is_none(original))
        return "field original is there, which only timing profiles may have";
    if (kind == PM_KIND_VARIANT) {
        if (flags != 0)
            return "field flags is not 0, and it is a profile of variants";
        return space == PM_VARIANT_SPACE ? NULL
                                         : "field space is not that of all profiles of variants";
    }
    if (environment->vendor_id || environment->device_id || environment->driver_id ||
        environment->driver_version)
        return "field environment names a device, which only profiles of times may";
    return NULL;
}

/* ---- reading ---- */

/* Fails when a message carries a field that this version does not know. */
static bool has_no_unknown_fields(const ProtobufCMessage *message, const char *what,
                                  struct pm_error *error)
{
    if (message->n_unknown_fields == 0)
        return true;
    return pm_fail(error, PM_ERROR_INPUT, "%s: field %u is not known to this version", what,
                   message->unknown_fields[0].tag);
}

bool pm_version_check(const ProtobufCMessage *message, uint32_t version, uint32_t known,
                      struct pm_error *error)
{
    if (version != known)
        return pm_fail(error, PM_ERROR_INPUT, "field version is %" PRIu32 "; this program knows %u",
                       version, known);
    return has_no_unknown_fields(message, "message", error);
}

static bool take_key(const ProtobufCBinaryData *bytes, const char *what, const char *field,
                     struct pm_shader_key *key, struct pm_error *error)
{
    if (bytes->len != PM_SHADER_KEY_BYTES)
        return pm_fail(error, PM_ERROR_INPUT, "%s: field %s has %zu bytes, not %d", what, field,
                       bytes->len, PM_SHADER_KEY_BYTES);
    memcpy(key->bytes, bytes->data, PM_SHADER_KEY_BYTES);
    return true;
}

static struct pm_environment environment_of(const Piecemeal__Environment *message)
{
    struct pm_environment environment = {0};
    if (message) {
        environment.subgroup_size = message->subgroup_size;
        environment.vendor_id = message->vendor_id;
        environment.device_id = message->device_id;
        environment.driver_id = message->driver_id;
        environment.driver_version = message->driver_version;
    }
    return environment;
}

bool pm_wire_shader_take(const struct pm_wire_shader *from, const char *what,
                         struct pm_shader_key *key, struct pm_environment *environment,
                         struct pm_shader_key *original, struct pm_error *error)
{
    *original = (struct pm_shader_key){0};
    *environment = environment_of(from->environment);
    return has_no_unknown_fields(from->message, what, error) &&
           (!from->environment || has_no_unknown_fields(&from->environment->base, what, error)) &&
           take_key(from->key, what, "key", key, error) &&
           (from->original->len == 0 ||
            take_key(from->original, what, "original", original, error));
}

bool pm_bitmap_take(const ProtobufCBinaryData *bytes, uint32_t space, const char *what,
                    const char *field, struct pm_arena *arena, const uint8_t **bitmap,
                    struct pm_error *error)
{
    if (bytes->len == 0)
        return true;
    if (bytes->len != pm_bitmap_bytes(space))
        return pm_fail(error, PM_ERROR_INPUT,
                       "%s: field %s has %zu bytes where a space of %" PRIu32 " needs %zu", what,
                       field, bytes->len, space, pm_bitmap_bytes(space));
    *bitmap = pm_arena_dup(arena, bytes->data, bytes->len);
    return *bitmap || pm_fail(error, PM_ERROR_MEMORY, "%s: out of memory", what);
}

bool pm_column_check(const char *what, const char *field, size_t has, size_t need,
                     struct pm_error *error)
{
    return has == need ||
           pm_fail(error, PM_ERROR_INPUT, "%s: field %s has %zu elements where %zu are needed",
                   what, field, has, need);
}

/* ---- writing ---- */

ProtobufCBinaryData pm_bytes_pack(const void *bytes, size_t size)
{
    /* protobuf-c takes what it packs as not const, and does not write to it. */
    return (ProtobufCBinaryData){size, (uint8_t *)(uintptr_t)bytes};
}

ProtobufCBinaryData pm_original_pack(const struct pm_shader_key *key)
{
    return pm_shader_key_is_none(key) ? (ProtobufCBinaryData){0}
                                      : pm_bytes_pack(key->bytes, sizeof(key->bytes));
}

Piecemeal__Environment *pm_environment_pack(const struct pm_environment *environment,
                                            struct pm_arena *arena)
{
    Piecemeal__Environment *message = pm_arena_alloc(arena, sizeof(*message));
    if (!message)
        return NULL;
    piecemeal__environment__init(message);
    message->subgroup_size = environment->subgroup_size;
    message->vendor_id = environment->vendor_id;
    message->device_id = environment->device_id;
    message->driver_id = environment->driver_id;
    message->driver_version = environment->driver_version;
    return message;
}

bool pm_message_append(const ProtobufCMessage *message, size_t most, const char *what,
                       struct pm_buffer *out, struct pm_error *error)
{
    const size_t size = protobuf_c_message_get_packed_size(message);
    if (size > most)
        return pm_fail(error, PM_ERROR_LIMIT, "%s: %zu bytes, more than %zu", what, size, most);
    uint8_t *packed = malloc(size ? size : 1);
    if (packed)
        protobuf_c_message_pack(message, packed);
    const bool appended = packed && pm_buffer_append(out, packed, size);
    free(packed);
    return appended ||
           pm_fail(error, PM_ERROR_MEMORY, "no room for an encoded %s of %zu bytes", what, size);
}
