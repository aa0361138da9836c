#include "shader_rewrite/canonical/optimizer.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <spirv-tools/optimizer.hpp>
#include <string>
#include <vector>

using namespace spvtools;

// base/stop.h, whose atomics are C's.
extern "C" bool pm_stop_asked(void);

// Every pass of the optimizer is run by opt::Pass::Run, which the linker lets us stand before
// (--wrap): between two passes it ends as if the next had failed when the thread is asked to stop.
// To run them one by one would cost as much again, and is not the same: passes go by the order in
// which the ones before made instructions, and canonical modules would be others.
extern "C" int __real__ZN8spvtools3opt4Pass3RunEPNS0_9IRContextE(void *pass,
                                                                 void *context); // Pass::Status
extern "C" int __wrap__ZN8spvtools3opt4Pass3RunEPNS0_9IRContextE(void *pass, void *context);

extern "C" int __wrap__ZN8spvtools3opt4Pass3RunEPNS0_9IRContextE(void *pass, void *context)
{
    enum { FAILURE = 0 };
    return pm_stop_asked() ? FAILURE
                           : __real__ZN8spvtools3opt4Pass3RunEPNS0_9IRContextE(pass, context);
}

namespace
{

void add_prepare(Optimizer &optimizer)
{
    optimizer.RegisterPass(CreateFlattenDecorationPass())
        .RegisterPass(CreateEliminateDeadFunctionsPass());
}

// Dead code keeps the entry point's inputs and outputs: an output that is declared and never
// written is not the same to a driver as one that is not there.
Optimizer::PassToken dead_code()
{
    return CreateAggressiveDCEPass(true);
}

void add_inline(Optimizer &optimizer)
{
    optimizer.RegisterPass(CreateDeadBranchElimPass())
        .RegisterPass(CreateInlineExhaustivePass())
        .RegisterPass(CreateEliminateDeadFunctionsPass());
}

void add_simplify(Optimizer &optimizer, bool keeps_copies, bool has_calls)
{
    optimizer.RegisterPass(CreateDeadBranchElimPass());
    if (!has_calls)
        optimizer.RegisterPass(CreatePrivateToLocalPass());
    optimizer.RegisterPass(CreateScalarReplacementPass())
        .RegisterPass(CreateLocalAccessChainConvertPass())
        .RegisterPass(CreateLocalSingleBlockLoadStoreElimPass())
        .RegisterPass(CreateLocalSingleStoreElimPass())
        .RegisterPass(dead_code())
        .RegisterPass(CreateSSARewritePass())
        .RegisterPass(dead_code())
        .RegisterPass(CreateFoldSpecConstantOpAndCompositePass())
        .RegisterPass(CreateCCPPass())
        .RegisterPass(CreateDeadBranchElimPass());
    if (!keeps_copies)
        optimizer.RegisterPass(CreateCopyPropagateArraysPass());
    optimizer.RegisterPass(CreateRedundancyEliminationPass())
        .RegisterPass(CreateSimplificationPass())
        .RegisterPass(CreateDeadInsertElimPass())
        .RegisterPass(dead_code());
}

void add_merge_blocks(Optimizer &optimizer)
{
    optimizer.RegisterPass(CreateBlockMergePass());
}

void add_passes(Optimizer &optimizer, pm_optimizer_step step)
{
    switch (step) {
    case PM_STEP_PREPARE:
        add_prepare(optimizer);
        break;
    case PM_STEP_MERGE_RETURN:
        optimizer.RegisterPass(CreateMergeReturnPass());
        break;
    case PM_STEP_INLINE:
        add_inline(optimizer);
        break;
    case PM_STEP_SIMPLIFY:
        add_simplify(optimizer, false, false);
        break;
    case PM_STEP_SIMPLIFY_KEEPING_COPIES:
        add_simplify(optimizer, true, false);
        break;
    case PM_STEP_SIMPLIFY_WITH_CALLS:
        add_simplify(optimizer, true, true);
        break;
    case PM_STEP_MERGE_BLOCKS:
        add_merge_blocks(optimizer);
        break;
    }
}

// Registers passes; false: one is not known.
using Registering = std::function<bool(Optimizer &)>;

pm_optimizer_result run(const Registering &add, const uint32_t *words, size_t count,
                        std::vector<uint32_t> &result, std::string &message)
{
    // Not the device's environment: the canonical module, and with it the key, is the same on any
    // device.
    Optimizer optimizer(SPV_ENV_UNIVERSAL_1_6);
    optimizer.SetMessageConsumer([&message](spv_message_level_t level, const char *,
                                            const spv_position_t &position, const char *text) {
        if (level > SPV_MSG_ERROR || !message.empty())
            return;
        message = text;
        if (position.index)
            message += " (word " + std::to_string(position.index) + ")";
    });
    if (!add(optimizer))
        return PM_OPTIMIZER_GAVE_UP;

    OptimizerOptions options;
    options.set_run_validator(false); // pm_canonicalize validates, for the device's environment
    return optimizer.Run(words, count, &result, options) ? PM_OPTIMIZER_DONE : PM_OPTIMIZER_GAVE_UP;
}

void put_message(const char *text, char *message, size_t message_size)
{
    snprintf(message, message_size, "%s", text);
    for (char *c = message; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
}

pm_optimizer_result run_caught(const Registering &add, const uint32_t *words, size_t count,
                               uint32_t **out, size_t *out_count, char *message,
                               size_t message_size)
{
    *out = nullptr;
    *out_count = 0;
    *message = 0;
    try {
        std::vector<uint32_t> result;
        std::string text;
        if (run(add, words, count, result, text) != PM_OPTIMIZER_DONE) {
            put_message(text.empty() ? "no reason given" : text.c_str(), message, message_size);
            return PM_OPTIMIZER_GAVE_UP;
        }
        *out = static_cast<uint32_t *>(malloc(result.size() * sizeof(uint32_t)));
        if (!*out)
            return PM_OPTIMIZER_NO_MEMORY;
        memcpy(*out, result.data(), result.size() * sizeof(uint32_t));
        *out_count = result.size();
        return PM_OPTIMIZER_DONE;
    } catch (const std::bad_alloc &) {
        return PM_OPTIMIZER_NO_MEMORY;
    } catch (const std::exception &exception) {
        put_message(exception.what(), message, message_size);
    } catch (...) {
        put_message("unknown exception", message, message_size);
    }
    return PM_OPTIMIZER_GAVE_UP;
}

} // namespace

extern "C" pm_optimizer_result pm_optimizer_run(pm_optimizer_step step, const uint32_t *words,
                                                size_t count, uint32_t **out, size_t *out_count,
                                                char *message, size_t message_size)
{
    const auto add = [step](Optimizer &optimizer) {
        add_passes(optimizer, step);
        return true;
    };
    return run_caught(add, words, count, out, out_count, message, message_size);
}

extern "C" pm_optimizer_result pm_optimizer_run_flag(const char *flag, const uint32_t *words,
                                                     size_t count, uint32_t **out,
                                                     size_t *out_count, char *message,
                                                     size_t message_size)
{
    const auto add = [flag](Optimizer &optimizer) { return optimizer.RegisterPassFromFlag(flag); };
    return run_caught(add, words, count, out, out_count, message, message_size);
}
