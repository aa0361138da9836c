/*
 * What a pipeline was made with: the create info that is remembered to build it again, and those of
 * all that it is made of, as one document in the JSON of Fossilize (its README.md and
 * fossilize.cpp, version 6), whose names and numbers are Vulkan's. For a reproduction
 * (variant_files.h), and for the shader store, from where `piecemeal db export --format foz` takes
 * it.
 *
 * An object is referred to by 16 hexadecimal digits: a shader module by the hash that Fossilize
 * gives it, anything else by one over its own JSON. Beside Fossilize's sections the document has
 * "piecemeal": the "type" ("graphics", "compute" or "shader object"), the "pipeline", and whose
 * shader variants replace: the "owner", it or one of its libraries, and the "stage", its place
 * there; and in "left_out" the types of structures in chains of pNext that are not told, for which
 * no pipeline can be made of the document.
 *
 * Thread safety: any thread; reads modules from the disk.
 */
#pragma once

#include "layer/shader/pipeline.h"
#include "layer/shader/pipeline_state_document.h"

/* visit NULL: nobody asks. The document is the caller's to delete; NULL: *error. */
cJSON *pm_pipeline_state(const struct pm_pipeline *pipeline, pm_state_module_visitor visit,
                         void *user, struct pm_error *error);
