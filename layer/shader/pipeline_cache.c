#include "layer/shader/pipeline_cache.h"

#include "base/file.h"
#include "layer/core/object_name.h"
#include "layer/shader/object.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SAVE_SECONDS = 10 /* at least, between two */, SMALL_BYTES = 8 << 20 };

/* What a file begins with; the driver's data follow, padded with zeros to whole words. The file
 * stays on this machine, so the integers are the machine's own. */
struct header {
    char magic[8];
    uint32_t vendor, device, driver_version;
    uint8_t uuid[VK_UUID_SIZE];
    uint32_t size; /* bytes of data */
    struct pm_shader_key checksum;
};

static const char magic[8] = "PMcache1";

struct pm_pipeline_cache {
    struct pm_device *device;
    bool kept;
    _Atomic uint32_t grown; /* pipelines since the last save */
    pthread_mutex_t lock;
    /* guarded by lock: */
    bool tried;
    VkPipelineCache handle; /* set once, but for pm_pipeline_cache_bound */
    /* Held while it is written, which takes as long as the disk does: a game's thread that wants
     * the handle meanwhile is not to do without. */
    pthread_mutex_t saving;
    time_t saved_at; /* CLOCK_MONOTONIC, seconds; 0: never */
    bool too_large;  /* said once */
};

struct pm_pipeline_cache *pm_pipeline_cache_create(struct pm_device *device, bool kept)
{
    struct pm_pipeline_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return NULL;
    cache->device = device;
    cache->kept = kept;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_mutex_init(&cache->saving, NULL);
    return cache;
}

static size_t cap(const struct pm_device *device)
{
    return (size_t)device->instance->config.limits.pipeline_cache_mib << 20;
}

/* malloc'ed; NULL: no memory or no place. */
static char *folder_of(const struct pm_device *device)
{
    char *place = pm_place_path(PM_PLACE_CACHE, "pipelines");
    char *safe = pm_file_safe_name(device->instance->game), *folder = NULL;
    if (!place || !safe || asprintf(&folder, "%s/%s", place, safe) < 0)
        folder = NULL;
    free(place);
    free(safe);
    return folder;
}

static char *path_in(const char *folder, const struct pm_device *device)
{
    char *path = NULL;
    return asprintf(&path, "%s/%04" PRIx32 "-%04" PRIx32 ".cache", folder,
                    device->properties.vendorID, device->properties.deviceID) < 0
               ? NULL
               : path;
}

static size_t padded(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

static struct pm_shader_key checksum(const void *data, size_t size)
{
    return pm_shader_key_compute("piecemeal pipeline cache", data, padded(size) / 4);
}

static struct header make_header(const struct pm_device *device, const void *data, size_t size)
{
    struct header header = {
        .vendor = device->properties.vendorID,
        .device = device->properties.deviceID,
        .driver_version = device->properties.driverVersion,
        .size = (uint32_t)size,
        .checksum = checksum(data, size),
    };
    memcpy(header.magic, magic, sizeof magic);
    memcpy(header.uuid, device->properties.pipelineCacheUUID, VK_UUID_SIZE);
    return header;
}

/* ---- reading ---- */

/* The driver's own header (VkPipelineCacheHeaderVersionOne) says whose data it is. */
static bool is_drivers(const struct pm_device *device, const void *data, size_t size)
{
    VkPipelineCacheHeaderVersionOne header;
    if (size < sizeof header)
        return false;
    memcpy(&header, data, sizeof header);
    return header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
           header.vendorID == device->properties.vendorID &&
           header.deviceID == device->properties.deviceID &&
           memcmp(header.pipelineCacheUUID, device->properties.pipelineCacheUUID, VK_UUID_SIZE) ==
               0;
}

/* The data in a file's bytes; NULL: *why says what is wrong, or it is another driver's. */
static const void *check(const struct pm_device *device, const struct pm_buffer *file, size_t *size,
                         const char **why)
{
    struct header header;
    *why = "it is damaged";
    if (file->size < sizeof header)
        return NULL;
    memcpy(&header, file->data, sizeof header);
    const unsigned char *data = file->data + sizeof header;
    if (memcmp(header.magic, magic, sizeof magic) != 0 ||
        file->size - sizeof header != padded(header.size))
        return NULL;
    const struct header expected = make_header(device, data, header.size);
    if (!pm_shader_key_equal(&header.checksum, &expected.checksum))
        return NULL;
    *why = "it is another driver's";
    if (header.vendor != expected.vendor || header.device != expected.device ||
        header.driver_version != expected.driver_version ||
        memcmp(header.uuid, expected.uuid, VK_UUID_SIZE) != 0 ||
        !is_drivers(device, data, header.size))
        return NULL;
    *size = header.size;
    return data;
}

static const void *load(const struct pm_device *device, struct pm_buffer *file, size_t *size)
{
    char *folder = folder_of(device), *path = folder ? path_in(folder, device) : NULL;
    const void *data = NULL;
    const char *why = NULL;
    struct pm_error error = {0};
    if (path && access(path, F_OK) == 0) {
        if (pm_file_read(path, file, &error))
            data = check(device, file, size, &why);
        if (!data)
            pm_log_info(device->instance->log, "%s is not used: %s", path,
                        error.code != PM_OK ? error.message : why);
    }
    free(path);
    free(folder);
    return data;
}

/* Under the lock. */
static void make(struct pm_pipeline_cache *cache)
{
    struct pm_device *device = cache->device;
    struct pm_buffer file;
    pm_buffer_init(&file, cap(device) + sizeof(struct header) + 4);
    VkPipelineCacheCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    info.pInitialData =
        cache->kept && cap(device) > 0 ? load(device, &file, &info.initialDataSize) : NULL;
    if (device->dispatch.CreatePipelineCache(device->handle, &info, NULL, &cache->handle) ==
        VK_SUCCESS)
        pm_name_object(device, VK_OBJECT_TYPE_PIPELINE_CACHE, PM_BITS(cache->handle),
                       cache->kept ? "piecemeal specialized" : "piecemeal A-Z testing");
    else
        cache->handle = VK_NULL_HANDLE;
    pm_buffer_finish(&file);
}

VkPipelineCache pm_pipeline_cache_get(struct pm_pipeline_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    if (!cache->tried) {
        cache->tried = true;
        make(cache);
    }
    const VkPipelineCache handle = cache->handle;
    pthread_mutex_unlock(&cache->lock);
    return handle;
}

void pm_pipeline_cache_prepare(struct pm_pipeline_cache *cache)
{
    const struct pm_device *device = cache->device;
    char *folder = folder_of(device), *path = folder ? path_in(folder, device) : NULL;
    struct stat status;
    if (path && (stat(path, &status) != 0 || status.st_size <= SMALL_BYTES))
        (void)pm_pipeline_cache_get(cache);
    free(path);
    free(folder);
}

VkPipelineCache pm_pipeline_cache_now(struct pm_pipeline_cache *cache)
{
    if (pthread_mutex_trylock(&cache->lock) != 0)
        return VK_NULL_HANDLE;
    const VkPipelineCache handle = cache->handle;
    pthread_mutex_unlock(&cache->lock);
    return handle;
}

static bool is_there(struct pm_pipeline_cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    const bool there = cache->handle != VK_NULL_HANDLE;
    pthread_mutex_unlock(&cache->lock);
    return there;
}

static void destroy(const struct pm_pipeline_cache *cache)
{
    const struct pm_device *device = cache->device;
    if (cache->handle)
        device->dispatch.DestroyPipelineCache(device->handle, cache->handle, NULL);
}

void pm_pipeline_cache_bound(struct pm_pipeline_cache *cache)
{
    const struct pm_device *device = cache->device;
    size_t size = 0;
    if (!is_there(cache) ||
        device->dispatch.GetPipelineCacheData(device->handle, cache->handle, &size, NULL) !=
            VK_SUCCESS ||
        size <= cap(device))
        return;
    pthread_mutex_lock(&cache->lock);
    destroy(cache);
    cache->handle = VK_NULL_HANDLE;
    cache->tried = false;
    pthread_mutex_unlock(&cache->lock);
}

void pm_pipeline_cache_grown(struct pm_pipeline_cache *cache)
{
    atomic_fetch_add(&cache->grown, 1);
}

/* ---- writing ---- */

/* The whole file, malloc'ed; NULL: there is nothing to write. */
static unsigned char *collect(struct pm_pipeline_cache *cache, size_t size, size_t *bytes)
{
    struct pm_device *device = cache->device;
    unsigned char *file = calloc(1, sizeof(struct header) + padded(size));
    /* It may have become less meanwhile, or more (VK_INCOMPLETE: the rest is left out). */
    const VkResult result =
        file ? device->dispatch.GetPipelineCacheData(device->handle, cache->handle, &size,
                                                     file + sizeof(struct header))
             : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result < 0 || size == 0) {
        free(file);
        return NULL;
    }
    const struct header header = make_header(device, file + sizeof header, size);
    memcpy(file, &header, sizeof header);
    *bytes = sizeof header + padded(size);
    return file;
}

static void start_anew(struct pm_pipeline_cache *cache, const char *path, size_t size)
{
    unlink(path);
    if (!cache->too_large)
        pm_log_info(cache->device->instance->log,
                    "the pipeline cache has %zu bytes, more than limits.pipeline_cache_mib; it "
                    "is begun anew",
                    size);
    cache->too_large = true;
}

static bool write_file(struct pm_pipeline_cache *cache, const char *folder, const char *path,
                       struct pm_error *error)
{
    struct pm_device *device = cache->device;
    size_t size = 0, bytes = 0;
    if (device->dispatch.GetPipelineCacheData(device->handle, cache->handle, &size, NULL) !=
            VK_SUCCESS ||
        size == 0)
        return true;
    if (size > cap(device)) {
        start_anew(cache, path, size);
        return true;
    }
    unsigned char *file = collect(cache, size, &bytes);
    const bool ok =
        !file || (pm_make_folder(folder, error) && pm_file_write(path, file, bytes, error));
    free(file);
    return ok;
}

/* Under the lock of saving. What a lost device's driver says of its pipelines is not to be trusted.
 */
static void save(struct pm_pipeline_cache *cache)
{
    struct pm_device *device = cache->device;
    if (!cache->kept || atomic_load(&device->lost) || !is_there(cache) || cap(device) == 0 ||
        atomic_exchange(&cache->grown, 0) == 0)
        return;
    struct pm_error error = {0};
    char *folder = folder_of(device), *path = folder ? path_in(folder, device) : NULL;
    if (path && !write_file(cache, folder, path, &error))
        pm_log_info(device->instance->log, "the pipeline cache is not kept: %s", error.message);
    free(path);
    free(folder);
}

static time_t seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

void pm_pipeline_cache_save(struct pm_pipeline_cache *cache)
{
    pthread_mutex_lock(&cache->saving);
    if (cache->saved_at == 0 || seconds() - cache->saved_at >= SAVE_SECONDS) {
        save(cache);
        cache->saved_at = seconds();
    }
    pthread_mutex_unlock(&cache->saving);
}

void pm_pipeline_cache_destroy(struct pm_pipeline_cache *cache)
{
    if (!cache)
        return;
    save(cache);
    destroy(cache);
    pthread_mutex_destroy(&cache->saving);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}
