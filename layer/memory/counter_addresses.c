#include "layer/memory/counter_addresses.h"

#include "base/file.h"
#include "profile/shader_key.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "counters"
#define VERSION "1"

enum { MOST_BYTES = 512 };

static VkPhysicalDeviceIDProperties find_ids(const struct pm_device *device)
{
    VkPhysicalDeviceIDProperties ids = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &ids,
    };
    device->instance->dispatch.GetPhysicalDeviceProperties2(device->physical, &properties);
    return ids;
}

static bool append_uuid(struct pm_buffer *text, const uint8_t uuid[static VK_UUID_SIZE])
{
    bool ok = true;
    for (size_t i = 0; ok && i < VK_UUID_SIZE; i++)
        ok = pm_buffer_printf(text, "%02x", uuid[i]);
    return ok;
}

/* Devices that this process uses at once may share one address space, so each has a file. */
static char *find_path(const struct pm_device *device, uint64_t bytes, uint32_t same_model,
                       const VkPhysicalDeviceIDProperties *ids)
{
    struct pm_buffer name;
    pm_buffer_init(&name, MOST_BYTES);
    char *path = NULL;
    if (pm_buffer_printf(&name, FOLDER "/%08" PRIx32 "-%08" PRIx32 "-", device->properties.vendorID,
                         device->properties.deviceID) &&
        append_uuid(&name, ids->deviceUUID) &&
        pm_buffer_printf(&name, "-%" PRIu64 "-%" PRIu32, bytes >> 20, same_model))
        path = pm_place_path(PM_PLACE_CACHE, (const char *)name.data);
    pm_buffer_finish(&name);
    return path;
}

/* What a file says before its addresses: whose they are, and what for. */
static bool append_identity(struct pm_buffer *text, const struct pm_device *device, uint64_t bytes,
                            const VkPhysicalDeviceIDProperties *ids)
{
    const VkPhysicalDeviceProperties *properties = &device->properties;
    return pm_buffer_printf(
               text, "piecemeal counters " VERSION " %08" PRIx32 " %08" PRIx32 " %08" PRIx32 " ",
               properties->vendorID, properties->deviceID, properties->driverVersion) &&
           append_uuid(text, ids->deviceUUID) && pm_buffer_append_string(text, " ") &&
           append_uuid(text, ids->driverUUID) && pm_buffer_printf(text, " %" PRIu64, bytes);
}

/* The addresses, and a digest of the whole line. text holds the identity. */
static bool append_addresses(struct pm_buffer *text, const struct pm_counter_addresses *addresses)
{
    char digest[PM_SHADER_KEY_TEXT];
    if (!pm_buffer_printf(text, " %" PRIu32 " %016" PRIx64 " %016" PRIx64, addresses->memory_type,
                          addresses->buffer, addresses->memory))
        return false;
    const uint32_t none = 0;
    const struct pm_shader_key key = pm_shader_key_compute((const char *)text->data, &none, 0);
    pm_shader_key_format(&key, digest);
    return pm_buffer_printf(text, " %s\n", digest);
}

/* A line is what would be written for the addresses that it names, to the last byte. */
static bool parse(const struct pm_buffer *found, struct pm_buffer *line,
                  struct pm_counter_addresses *addresses)
{
    if (found->size <= line->size || memcmp(found->data, line->data, line->size) != 0)
        return false;
    const char *text = (const char *)found->data + line->size;
    return sscanf(text, " %" SCNu32 " %" SCNx64 " %" SCNx64, &addresses->memory_type,
                  &addresses->buffer, &addresses->memory) == 3 &&
           append_addresses(line, addresses) && line->size == found->size &&
           memcmp(found->data, line->data, line->size) == 0;
}

bool pm_counter_addresses_load(const struct pm_device *device, uint64_t bytes, uint32_t same_model,
                               struct pm_counter_addresses *addresses)
{
    const VkPhysicalDeviceIDProperties ids = find_ids(device);
    struct pm_error error = {0};
    struct pm_buffer found, line;
    pm_buffer_init(&found, MOST_BYTES);
    pm_buffer_init(&line, MOST_BYTES);
    char *path = find_path(device, bytes, same_model, &ids);
    const bool ok = path != NULL && pm_file_read(path, &found, &error) &&
                    append_identity(&line, device, bytes, &ids) && parse(&found, &line, addresses);
    free(path);
    pm_buffer_finish(&found);
    pm_buffer_finish(&line);
    return ok;
}

void pm_counter_addresses_save(const struct pm_device *device, uint64_t bytes, uint32_t same_model,
                               const struct pm_counter_addresses *addresses)
{
    const VkPhysicalDeviceIDProperties ids = find_ids(device);
    struct pm_error error = {0};
    struct pm_buffer line;
    pm_buffer_init(&line, MOST_BYTES);
    char *path = find_path(device, bytes, same_model, &ids),
         *folder = pm_place_path(PM_PLACE_CACHE, FOLDER);
    if (path == NULL || folder == NULL || !append_identity(&line, device, bytes, &ids) ||
        !append_addresses(&line, addresses))
        pm_fail(&error, PM_ERROR_MEMORY, "no memory");
    else if (pm_make_folder(folder, &error))
        pm_file_write(path, line.data, line.size, &error);
    if (error.code != PM_OK)
        pm_log_debug(device->instance->log, "the addresses of counters are not kept: %s",
                     error.message);
    free(path);
    free(folder);
    pm_buffer_finish(&line);
}
