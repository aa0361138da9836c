#include "aggregator_client/client.h"

/* Reaches into every library that the room stands on. */
__attribute__((visibility("default"))) int pm_static_link_probe(const void *data, size_t size);

int pm_static_link_probe(const void *data, size_t size)
{
    struct pm_buffer raw;
    struct pm_database database;
    struct pm_profile profile = {.game = "game", .scene = "", .layer_version = ""};
    struct pm_config config;
    uint32_t word = 0;
    struct pm_arena *arena = pm_arena_create(0);
    struct pm_shader_key key = pm_shader_key_compute("", &word, 1);
    struct pm_spool_writer *writer = pm_spool_writer_create(NULL, size, NULL);
    pm_buffer_init(&raw, 1 << 20);
    pm_config_init(&config);
    int result = arena && writer && pm_config_parse(&config, "", data, size, NULL) &&
                 pm_decompress(data, size, &raw, NULL) && key.bytes[0] &&
                 pm_spool_append(writer, &profile, NULL) &&
                 pm_database_cache_load("game", arena, &database, NULL);
    pm_config_finish(&config);
    pm_spool_writer_destroy(writer);
    pm_buffer_finish(&raw);
    pm_arena_destroy(arena);
    return result;
}
