/*
 * The game's pipelines: what the layer remembers of each so that it can build it again with another
 * shader, and the hooks. The game gets its own pipeline untouched and at once; variants come later
 * and elsewhere (variant.h).
 *
 * A pipeline library is remembered too. A pipeline linked from libraries is built again by linking
 * copies of its libraries, of which the one with the fragment shader is instrumented.
 *
 * Thread safety: all functions may be called from any thread.
 */
#pragma once

#include "layer/shader/object.h"
#include "layer/shader/variant.h"

/* NULL: out of memory. */
struct pm_pipelines *pm_pipelines_create(struct pm_device *device);
/* After pm_compiler_destroy and after every recording dropped its variants. NULL is allowed. */
void pm_pipelines_destroy(struct pm_pipelines *pipelines);
