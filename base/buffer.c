#include "base/buffer.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pm_buffer_init(struct pm_buffer *buffer, size_t cap)
{
    *buffer = (struct pm_buffer){.cap = cap};
}

void pm_buffer_finish(struct pm_buffer *buffer)
{
    free(buffer->data);
    pm_buffer_init(buffer, buffer->cap);
}

/* Room for `more` bytes and the terminator. */
static bool reserve(struct pm_buffer *buffer, size_t more)
{
    if (more > buffer->cap - buffer->size || buffer->size + more == SIZE_MAX)
        return false;
    size_t need = buffer->size + more + 1;
    if (need <= buffer->allocated)
        return true;
    size_t most = buffer->cap == SIZE_MAX ? SIZE_MAX : buffer->cap + 1;
    size_t size = buffer->allocated > most / 2 ? most : buffer->allocated * 2;
    if (size < need)
        size = need;
    if (size < 64)
        size = most < 64 ? most : 64;
    unsigned char *data = realloc(buffer->data, size);
    if (!data)
        return false;
    buffer->data = data;
    buffer->allocated = size;
    return true;
}

bool pm_buffer_append(struct pm_buffer *buffer, const void *data, size_t size)
{
    if (!reserve(buffer, size))
        return false;
    if (size > 0)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = 0;
    return true;
}

bool pm_buffer_append_string(struct pm_buffer *buffer, const char *string)
{
    return pm_buffer_append(buffer, string, strlen(string));
}

bool pm_buffer_printf(struct pm_buffer *buffer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (n < 0 || !reserve(buffer, (size_t)n))
        return false;
    va_start(arguments, format);
    vsnprintf((char *)buffer->data + buffer->size, (size_t)n + 1, format, arguments);
    va_end(arguments);
    buffer->size += (size_t)n;
    return true;
}
