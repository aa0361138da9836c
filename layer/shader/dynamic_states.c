#include "layer/shader/dynamic_states.h"

#include "layer/generate/create_info.h"

void pm_dynamic_states_init(struct pm_dynamic_states *states)
{
    pthread_mutex_init(&states->lock, NULL);
}

void pm_dynamic_states_finish(struct pm_dynamic_states *states)
{
    pthread_mutex_destroy(&states->lock);
}

#define INPUT VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT
#define BEFORE VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT
#define FRAGMENT VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT
#define OUTPUT VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT

/* The part of a pipeline that a state belongs to; of those that belong to two, which have to agree,
 * the one that always has it. 0: not known. */
static VkGraphicsPipelineLibraryFlagsEXT part_of(VkDynamicState state)
{
    switch ((int)state) {
    case VK_DYNAMIC_STATE_VERTEX_INPUT_EXT:
    case VK_DYNAMIC_STATE_VERTEX_INPUT_BINDING_STRIDE:
    case VK_DYNAMIC_STATE_PRIMITIVE_TOPOLOGY:
    case VK_DYNAMIC_STATE_PRIMITIVE_RESTART_ENABLE:
        return INPUT;
    case VK_DYNAMIC_STATE_VIEWPORT:
    case VK_DYNAMIC_STATE_SCISSOR:
    case VK_DYNAMIC_STATE_VIEWPORT_WITH_COUNT:
    case VK_DYNAMIC_STATE_SCISSOR_WITH_COUNT:
    case VK_DYNAMIC_STATE_LINE_WIDTH:
    case VK_DYNAMIC_STATE_LINE_STIPPLE_EXT:
    case VK_DYNAMIC_STATE_LINE_STIPPLE_ENABLE_EXT:
    case VK_DYNAMIC_STATE_LINE_RASTERIZATION_MODE_EXT:
    case VK_DYNAMIC_STATE_DEPTH_BIAS:
    case VK_DYNAMIC_STATE_DEPTH_BIAS_ENABLE:
    case VK_DYNAMIC_STATE_DEPTH_CLAMP_ENABLE_EXT:
    case VK_DYNAMIC_STATE_DEPTH_CLAMP_RANGE_EXT:
    case VK_DYNAMIC_STATE_DEPTH_CLIP_ENABLE_EXT:
    case VK_DYNAMIC_STATE_DEPTH_CLIP_NEGATIVE_ONE_TO_ONE_EXT:
    case VK_DYNAMIC_STATE_CULL_MODE:
    case VK_DYNAMIC_STATE_FRONT_FACE:
    case VK_DYNAMIC_STATE_POLYGON_MODE_EXT:
    case VK_DYNAMIC_STATE_RASTERIZER_DISCARD_ENABLE:
    case VK_DYNAMIC_STATE_RASTERIZATION_STREAM_EXT:
    case VK_DYNAMIC_STATE_PROVOKING_VERTEX_MODE_EXT:
    case VK_DYNAMIC_STATE_CONSERVATIVE_RASTERIZATION_MODE_EXT:
    case VK_DYNAMIC_STATE_EXTRA_PRIMITIVE_OVERESTIMATION_SIZE_EXT:
    case VK_DYNAMIC_STATE_PATCH_CONTROL_POINTS_EXT:
    case VK_DYNAMIC_STATE_TESSELLATION_DOMAIN_ORIGIN_EXT:
    case VK_DYNAMIC_STATE_DISCARD_RECTANGLE_EXT:
    case VK_DYNAMIC_STATE_DISCARD_RECTANGLE_ENABLE_EXT:
    case VK_DYNAMIC_STATE_DISCARD_RECTANGLE_MODE_EXT:
    case VK_DYNAMIC_STATE_FRAGMENT_SHADING_RATE_KHR:
        return BEFORE;
    case VK_DYNAMIC_STATE_DEPTH_TEST_ENABLE:
    case VK_DYNAMIC_STATE_DEPTH_WRITE_ENABLE:
    case VK_DYNAMIC_STATE_DEPTH_COMPARE_OP:
    case VK_DYNAMIC_STATE_DEPTH_BOUNDS:
    case VK_DYNAMIC_STATE_DEPTH_BOUNDS_TEST_ENABLE:
    case VK_DYNAMIC_STATE_STENCIL_TEST_ENABLE:
    case VK_DYNAMIC_STATE_STENCIL_OP:
    case VK_DYNAMIC_STATE_STENCIL_COMPARE_MASK:
    case VK_DYNAMIC_STATE_STENCIL_WRITE_MASK:
    case VK_DYNAMIC_STATE_STENCIL_REFERENCE:
        return FRAGMENT;
    case VK_DYNAMIC_STATE_BLEND_CONSTANTS:
    case VK_DYNAMIC_STATE_LOGIC_OP_EXT:
    case VK_DYNAMIC_STATE_LOGIC_OP_ENABLE_EXT:
    case VK_DYNAMIC_STATE_COLOR_BLEND_ENABLE_EXT:
    case VK_DYNAMIC_STATE_COLOR_BLEND_EQUATION_EXT:
    case VK_DYNAMIC_STATE_COLOR_BLEND_ADVANCED_EXT:
    case VK_DYNAMIC_STATE_COLOR_WRITE_ENABLE_EXT:
    case VK_DYNAMIC_STATE_COLOR_WRITE_MASK_EXT:
    case VK_DYNAMIC_STATE_RASTERIZATION_SAMPLES_EXT:
    case VK_DYNAMIC_STATE_SAMPLE_MASK_EXT:
    case VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_EXT:
    case VK_DYNAMIC_STATE_SAMPLE_LOCATIONS_ENABLE_EXT:
    case VK_DYNAMIC_STATE_ALPHA_TO_COVERAGE_ENABLE_EXT:
    case VK_DYNAMIC_STATE_ALPHA_TO_ONE_ENABLE_EXT:
        return OUTPUT;
    default:
        return 0;
    }
}

/* Under the lock. PM_DYNAMIC_MOST: there are too many to tell it from others. */
static uint32_t number_of(struct pm_dynamic_states *states, VkDynamicState state)
{
    for (uint32_t i = 0; i < states->count; i++)
        if (states->known[i] == state)
            return i;
    if (states->count == PM_DYNAMIC_MOST)
        return PM_DYNAMIC_MOST;
    states->known[states->count] = state;
    return states->count++;
}

bool pm_dynamic_states_add(struct pm_dynamic_states *states,
                           const VkPipelineDynamicStateCreateInfo *info,
                           VkGraphicsPipelineLibraryFlagsEXT own,
                           uint64_t set[static PM_DYNAMIC_WORDS])
{
    const uint32_t count = info != NULL ? info->dynamicStateCount : 0;
    bool more = false;
    if (count == 0)
        return false;
    pthread_mutex_lock(&states->lock);
    for (uint32_t i = 0; i < count; i++) {
        const VkGraphicsPipelineLibraryFlagsEXT part = part_of(info->pDynamicStates[i]);
        if (part != 0 && (own & part) == 0)
            continue;
        const uint32_t number = number_of(states, info->pDynamicStates[i]);
        const uint64_t bit = UINT64_C(1) << number % 64;
        more |= (atomic_fetch_or(&states->any[number / 64], bit) & bit) == 0;
        if (number < PM_DYNAMIC_MOST && (part != 0 || own == PM_ALL_STATE))
            set[number / 64] |= bit;
    }
    pthread_mutex_unlock(&states->lock);
    return more;
}

bool pm_dynamic_states_add_all(struct pm_dynamic_states *states)
{
    bool more = false;
    for (int word = 0; word < PM_DYNAMIC_WORDS; word++)
        more |= atomic_exchange(&states->any[word], UINT64_MAX) != UINT64_MAX;
    return more;
}
