#include "bench/cost/generated_kernel.h"

#include <spirv-tools/libspirv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const kernel_names[KERNEL_KINDS] = {
    [KERNEL_POLYNOMIAL] = "polynomial",
    [KERNEL_MATRIX] = "matrix",
    [KERNEL_FFT] = "FFT",
    [KERNEL_DOTS] = "dots",
};

enum { POLYNOMIALS = 4, SIDE = 4, POINTS = 32, MOST_VALUES = 64 };

/* What is being written: decorations and body apart, since the ones come first. */
struct text {
    char *data;
    size_t count, capacity;
};

struct kernel {
    struct text decorations, body;
    uint32_t next, made, wanted; /* ids; operations */
};

static void append(struct text *text, const char *data, size_t length)
{
    if (text->count + length + 1 > text->capacity) {
        text->capacity = 2 * text->capacity + length + 1;
        text->data = realloc(text->data, text->capacity);
        if (!text->data)
            exit(1);
    }
    memcpy(text->data + text->count, data, length);
    text->count += length;
    text->data[text->count] = '\0';
}

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *text, const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    const size_t length = (size_t)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    append(text, line, length);
}

static uint32_t binary(struct kernel *k, const char *opcode, const char *type, uint32_t a,
                       uint32_t b)
{
    const uint32_t id = k->next++;
    add(&k->body, "%%%u = %s %s %%%u %%%u\n", id, opcode, type, a, b);
    add(&k->decorations, "OpDecorate %%%u NoContraction\n", id);
    k->made++;
    return id;
}

static uint32_t times(struct kernel *k, uint32_t a, uint32_t b)
{
    return binary(k, "OpFMul", "%float", a, b);
}

static uint32_t plus(struct kernel *k, uint32_t a, uint32_t b)
{
    return binary(k, "OpFAdd", "%float", a, b);
}

static uint32_t minus(struct kernel *k, uint32_t a, uint32_t b)
{
    return binary(k, "OpFSub", "%float", a, b);
}

/* A constant that keeps values within bounds, one of eight. */
static uint32_t constant(uint32_t number)
{
    return 100 + number % 8;
}

static void polynomial(struct kernel *k, uint32_t *values)
{
    for (uint32_t step = 0; k->made < k->wanted; step++) {
        uint32_t *sum = &values[1 + step % POLYNOMIALS];
        *sum = plus(k, times(k, *sum, values[0]), constant(step));
    }
}

static void matrix(struct kernel *k, uint32_t *values)
{
    while (k->made < k->wanted) {
        uint32_t product[SIDE * SIDE];
        for (uint32_t at = 0; at < SIDE * SIDE; at++) {
            const uint32_t row = at / SIDE, column = at % SIDE;
            uint32_t sum = times(k, values[row * SIDE], values[SIDE * SIDE + column]);
            for (uint32_t i = 1; i < SIDE; i++)
                sum =
                    plus(k, sum,
                         times(k, values[row * SIDE + i], values[SIDE * SIDE + i * SIDE + column]));
            product[at] = times(k, sum, constant(at));
        }
        memcpy(values, product, sizeof product);
    }
}

/* One butterfly of two complex numbers, real and imaginary parts side by side. */
static void butterfly(struct kernel *k, uint32_t *a, uint32_t *b, uint32_t number)
{
    const uint32_t c = constant(number), s = constant(number + 3);
    const uint32_t real = minus(k, times(k, b[0], c), times(k, b[1], s));
    const uint32_t imaginary = plus(k, times(k, b[0], s), times(k, b[1], c));
    const uint32_t sums[4] = {plus(k, a[0], real), plus(k, a[1], imaginary), minus(k, a[0], real),
                              minus(k, a[1], imaginary)};
    a[0] = sums[0];
    a[1] = sums[1];
    b[0] = sums[2];
    b[1] = sums[3];
}

static void fft(struct kernel *k, uint32_t *values)
{
    for (uint32_t stride = 1; k->made < k->wanted; stride = stride == POINTS / 2 ? 1 : 2 * stride)
        for (uint32_t i = 0; i < POINTS; i++)
            if (!(i & stride))
                butterfly(k, &values[2 * i], &values[2 * (i + stride)], i);
}

static void dots(struct kernel *k, uint32_t *values, uint32_t width)
{
    uint32_t vectors[MOST_VALUES / 4];
    for (uint32_t i = 0; i < width; i++) {
        vectors[i] = k->next++;
        add(&k->body, "%%%u = OpCompositeConstruct %%v4 %%%u %%%u %%%u %%%u\n", vectors[i],
            values[4 * i], values[4 * i + 1], values[4 * i + 2], values[4 * i + 3]);
    }
    for (uint32_t i = 0; k->made < k->wanted; i = (i + 1) % width) {
        const uint32_t dot = binary(k, "OpDot", "%float", vectors[i], 99), splat = k->next++;
        add(&k->body, "%%%u = OpCompositeConstruct %%v4 %%%u %%%u %%%u %%%u\n", splat, dot, dot,
            dot, dot);
        vectors[i] = binary(k, "OpFAdd", "%v4", vectors[(i + 1) % width], splat);
    }
    for (uint32_t i = 0; i < 4 * width; i++) {
        values[i] = k->next++;
        add(&k->body, "%%%u = OpCompositeExtract %%float %%%u %u\n", values[i], vectors[i / 4],
            i % 4);
    }
}

uint32_t kernel_floats(enum kernel_kind kind, uint32_t width)
{
    switch (kind) {
    case KERNEL_POLYNOMIAL:
        return 1 + POLYNOMIALS;
    case KERNEL_MATRIX:
        return 2 * SIDE * SIDE;
    case KERNEL_FFT:
        return 2 * POINTS;
    default:
        return 4 * width;
    }
}

/* Where one of the invocation's floats is. */
static uint32_t pointer(struct kernel *k, uint32_t number)
{
    const uint32_t index = k->next++, at = k->next++;
    add(&k->body, "%%%u = OpIAdd %%uint %%first %%number%u\n", index, number);
    add(&k->body, "%%%u = OpAccessChain %%element %%values %%number0 %%%u\n", at, index);
    return at;
}

static const char types[] = "%void = OpTypeVoid\n%function = OpTypeFunction %void\n"
                            "%float = OpTypeFloat 32\n%v4 = OpTypeVector %float 4\n"
                            "%uint = OpTypeInt 32 0\n%uint3 = OpTypeVector %uint 3\n"
                            "%input = OpTypePointer Input %uint3\n%id = OpVariable %input Input\n"
                            "%array = OpTypeRuntimeArray %float\n%block = OpTypeStruct %array\n"
                            "%storage = OpTypePointer StorageBuffer %block\n"
                            "%element = OpTypePointer StorageBuffer %float\n"
                            "%values = OpVariable %storage StorageBuffer\n";

static char *assemble_text(const struct kernel *k, uint32_t floats)
{
    struct text all = {0};
    add(&all, "OpCapability Shader\n"
              "OpExtension \"SPV_KHR_storage_buffer_storage_class\"\n"
              "OpMemoryModel Logical GLSL450\nOpEntryPoint GLCompute %%main \"main\" %%id\n");
    add(&all, "OpExecutionMode %%main LocalSize %d 1 1\n", KERNEL_LANES);
    add(&all, "OpDecorate %%id BuiltIn GlobalInvocationId\nOpDecorate %%array ArrayStride 4\n"
              "OpDecorate %%block Block\nOpMemberDecorate %%block 0 Offset 0\n"
              "OpDecorate %%values DescriptorSet 0\nOpDecorate %%values Binding 0\n");
    append(&all, k->decorations.data, k->decorations.count);
    append(&all, types, sizeof types - 1);
    for (uint32_t i = 0; i < 8; i++)
        add(&all, "%%%u = OpConstant %%float %g\n", constant(i), 0.125 + 0.0625 * i);
    add(&all, "%%99 = OpConstantComposite %%v4 %%100 %%101 %%102 %%103\n");
    for (uint32_t i = 0; i <= floats; i++)
        add(&all, "%%number%u = OpConstant %%uint %u\n", i, i);
    add(&all, "%%main = OpFunction %%void None %%function\n%%entry = OpLabel\n"
              "%%at = OpLoad %%uint3 %%id\n%%x = OpCompositeExtract %%uint %%at 0\n");
    add(&all, "%%first = OpIMul %%uint %%x %%number%u\n", floats);
    append(&all, k->body.data, k->body.count);
    add(&all, "OpReturn\nOpFunctionEnd\n");
    return all.data;
}

static struct pm_words assemble(const char *text)
{
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    spv_binary binary_words = NULL;
    spv_diagnostic diagnostic = NULL;
    if (spvTextToBinary(context, text, strlen(text), &binary_words, &diagnostic) != SPV_SUCCESS) {
        fprintf(stderr, "a generated kernel: %s\n", diagnostic ? diagnostic->error : "?");
        exit(1);
    }
    struct pm_words words = {malloc(binary_words->wordCount * sizeof(uint32_t)),
                             binary_words->wordCount};
    if (!words.data)
        exit(1);
    memcpy(words.data, binary_words->code, words.count * sizeof(uint32_t));
    spvBinaryDestroy(binary_words);
    spvContextDestroy(context);
    return words;
}

struct pm_words kernel_make(enum kernel_kind kind, uint32_t operations, uint32_t width)
{
    struct kernel k = {.next = 200, .wanted = operations};
    uint32_t values[MOST_VALUES];
    const uint32_t floats = kernel_floats(kind, width);
    for (uint32_t i = 0; i < floats; i++) {
        const uint32_t at = pointer(&k, i);
        values[i] = k.next++;
        add(&k.body, "%%%u = OpLoad %%float %%%u\n", values[i], at);
    }
    if (kind == KERNEL_POLYNOMIAL)
        polynomial(&k, values);
    else if (kind == KERNEL_MATRIX)
        matrix(&k, values);
    else if (kind == KERNEL_FFT)
        fft(&k, values);
    else
        dots(&k, values, width);
    for (uint32_t i = 0; i < floats; i++)
        add(&k.body, "OpStore %%%u %%%u\n", pointer(&k, i), values[i]);
    char *text = assemble_text(&k, floats);
    struct pm_words words = assemble(text);
    free(text);
    free(k.body.data);
    free(k.decorations.data);
    return words;
}
