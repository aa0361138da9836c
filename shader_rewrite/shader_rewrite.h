/*
 * SPIR-V in, SPIR-V out: what the layer and the tools use of this room, all of its inner rooms'
 * public headers. For users outside; nothing in here includes it. Fragment and compute shaders
 * only. Nothing here knows the Vulkan runtime.
 */
#pragma once

#include "shader_rewrite/blocks/blocks.h"
#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/constants/constants.h"
#include "shader_rewrite/instrument/instrument.h"
#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/ir/words.h"
#include "shader_rewrite/partition/partition.h"
#include "shader_rewrite/points/points.h"
#include "shader_rewrite/variants/variants.h"
#include "shader_rewrite/zero/zero.h"
