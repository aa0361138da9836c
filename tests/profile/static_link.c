#include "profile/database.h"

/* Reaches into every library that the room stands on. */
__attribute__((visibility("default"))) int pm_static_link_probe(const void *data, size_t size);

int pm_static_link_probe(const void *data, size_t size)
{
    struct pm_buffer raw;
    struct pm_database database;
    struct pm_arena *arena = pm_arena_create(0);
    uint32_t word = 0;
    struct pm_shader_key key = pm_shader_key_compute("", &word, 1);
    pm_buffer_init(&raw, 1 << 20);
    int result = arena && pm_decompress(data, size, &raw, NULL) &&
                 pm_database_decode(raw.data, raw.size, arena, &database, NULL) && key.bytes[0];
    pm_buffer_finish(&raw);
    pm_arena_destroy(arena);
    return result;
}
