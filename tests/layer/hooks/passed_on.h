/*
 * Structures that may be extended, which hooks of the layer are given and pass on as they are, with
 * all that is chained to them: they are read, and nothing is made of a copy.
 */
#pragma once

/* X(the structure, a command that is given it, which argument it is or is in). */
#define PASSED_ON(X)                                                                               \
    X(VkBindSparseInfo, vkQueueBindSparse, 2)                                                      \
    X(VkCommandBufferBeginInfo, vkBeginCommandBuffer, 1)                                           \
    X(VkCommandBufferInheritanceInfo, vkBeginCommandBuffer, 1)                                     \
    X(VkCommandBufferSubmitInfo, vkQueueSubmit2, 2)                                                \
    X(VkPresentInfoKHR, vkQueuePresentKHR, 1)                                                      \
    X(VkQueryPoolCreateInfo, vkCreateQueryPool, 1)                                                 \
    X(VkRenderPassBeginInfo, vkCmdBeginRenderPass2, 1)                                             \
    X(VkRenderingInfo, vkCmdBeginRendering, 1)                                                     \
    X(VkSubmitInfo, vkQueueSubmit, 2)                                                              \
    X(VkSubmitInfo2, vkQueueSubmit2, 2)                                                            \
    X(VkSubpassEndInfo, vkCmdEndRenderPass2, 1)                                                    \
    X(VkSwapchainCreateInfoKHR, vkCreateSwapchainKHR, 1)
