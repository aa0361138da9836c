/*
 * Small shaders for the tests of the analyses, as assembly with numbered ids: block labels are 100
 * and up, numbered in the order of the blocks, so that block index = label - 100.
 */
#pragma once

#define SHADER_HEAD                                                                                \
    "OpCapability Shader\n"                                                                        \
    "OpMemoryModel Logical GLSL450\n"                                                              \
    "OpEntryPoint GLCompute %1 \"main\"\n"                                                         \
    "OpExecutionMode %1 LocalSize 8 1 1\n"                                                         \
    "%2 = OpTypeVoid\n"                                                                            \
    "%3 = OpTypeFunction %2\n"                                                                     \
    "%4 = OpTypeBool\n"                                                                            \
    "%5 = OpConstantTrue %4\n"                                                                     \
    "%6 = OpTypeInt 32 0\n"                                                                        \
    "%7 = OpConstant %6 7\n"                                                                       \
    "%1 = OpFunction %2 None %3\n"

/* if (c) {1} else {2 if (c) return} 4; and a block nothing reaches */
#define SHADER_SELECTION                                                                           \
    SHADER_HEAD                                                                                    \
    "%100 = OpLabel\n"                                                                             \
    "OpSelectionMerge %105 None\n"                                                                 \
    "OpBranchConditional %5 %101 %102\n"                                                           \
    "%101 = OpLabel\n"                                                                             \
    "OpBranch %105\n"                                                                              \
    "%102 = OpLabel\n"                                                                             \
    "OpSelectionMerge %104 None\n"                                                                 \
    "OpBranchConditional %5 %103 %104\n"                                                           \
    "%103 = OpLabel\n"                                                                             \
    "OpReturn\n"                                                                                   \
    "%104 = OpLabel\n"                                                                             \
    "OpBranch %105\n"                                                                              \
    "%105 = OpLabel\n"                                                                             \
    "OpReturn\n"                                                                                   \
    "%106 = OpLabel\n"                                                                             \
    "OpBranch %105\n"                                                                              \
    "OpFunctionEnd\n"

/* A loop (header 101, continue 108, merge 109) around a loop of one block (103, merge 104) and a
 * switch (104, merge 107) with a case that leaves the outer loop (105) and one that falls through
 * from it (none) to its merge (106). */
#define SHADER_LOOPS                                                                               \
    SHADER_HEAD                                                                                    \
    "%100 = OpLabel\n"                                                                             \
    "OpBranch %101\n"                                                                              \
    "%101 = OpLabel\n"                                                                             \
    "OpLoopMerge %109 %108 None\n"                                                                 \
    "OpBranchConditional %5 %102 %109\n"                                                           \
    "%102 = OpLabel\n"                                                                             \
    "OpBranch %103\n"                                                                              \
    "%103 = OpLabel\n"                                                                             \
    "OpLoopMerge %104 %103 None\n"                                                                 \
    "OpBranchConditional %5 %103 %104\n"                                                           \
    "%104 = OpLabel\n"                                                                             \
    "OpSelectionMerge %107 None\n"                                                                 \
    "OpSwitch %7 %107 1 %105 2 %106 3 %106\n"                                                      \
    "%105 = OpLabel\n"                                                                             \
    "OpBranch %109\n"                                                                              \
    "%106 = OpLabel\n"                                                                             \
    "OpBranch %107\n"                                                                              \
    "%107 = OpLabel\n"                                                                             \
    "OpBranch %108\n"                                                                              \
    "%108 = OpLabel\n"                                                                             \
    "OpBranch %101\n"                                                                              \
    "%109 = OpLabel\n"                                                                             \
    "OpReturn\n"                                                                                   \
    "OpFunctionEnd\n"

/* A loop that never iterates: its body returns, its continue target (103) and merge (104) are never
 * reached. */
#define SHADER_ONCE                                                                                \
    SHADER_HEAD                                                                                    \
    "%100 = OpLabel\n"                                                                             \
    "OpBranch %101\n"                                                                              \
    "%101 = OpLabel\n"                                                                             \
    "OpLoopMerge %104 %103 None\n"                                                                 \
    "OpBranch %102\n"                                                                              \
    "%102 = OpLabel\n"                                                                             \
    "OpReturn\n"                                                                                   \
    "%103 = OpLabel\n"                                                                             \
    "OpBranch %101\n"                                                                              \
    "%104 = OpLabel\n"                                                                             \
    "OpUnreachable\n"                                                                              \
    "OpFunctionEnd\n"
