/* A compute shader of a size, as text, and what may be in it: a variable that the workgroup shares.
 */
#pragma once

#define SIZED(capabilities, local_size, globals, body)                                             \
    "OpCapability Shader\n" capabilities "OpMemoryModel Logical GLSL450\n"                         \
    "OpEntryPoint GLCompute %main \"main\"\n"                                                      \
    "OpExecutionMode %main LocalSize " local_size " 1 1\n"                                         \
    "%void = OpTypeVoid\n%fn = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n"                     \
    "%two = OpConstant %uint 2\n%three = OpConstant %uint 3\n%none = OpConstant %uint 0\n"         \
    "%acquire = OpConstant %uint 264\n" globals                                                    \
    "%main = OpFunction %void None %fn\n%l = OpLabel\n" body "OpReturn\nOpFunctionEnd\n"
#define SHARED "%pointer = OpTypePointer Workgroup %uint\n%shared = OpVariable %pointer Workgroup\n"
