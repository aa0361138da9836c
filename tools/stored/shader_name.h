/*
 * What a person calls a shader: by what its author left in its words, since a hash tells nobody
 * which it is. The names that the program gave its objects come first (VK_EXT_debug_utils), then
 * the source file's (OpSource, or DebugSource of NonSemantic.Shader.DebugInfo.100), then an entry
 * point that is not called main, then its outputs, then what it uses.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/shader_store.h"

/* "terrain.frag", "lit.hlsl: ps_main", "fragment → out_color"; the arena's. NULL: out of memory. */
const char *pm_shader_name(const struct pm_stored_shader *stored, struct pm_arena *arena);

/* "fragment" or "compute". */
const char *pm_stored_stage(const struct pm_stored_shader *stored);
