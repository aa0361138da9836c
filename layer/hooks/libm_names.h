/*
 * The functions of libm's that are called in the layer, by our code and by what is linked into it,
 * in the words of <math.h>: PM_LIBM(result, name, parameters, arguments). CMakeLists.txt reads the
 * names too, a line each.
 *
 * The test layer/exports fails where one that the layer needs is missing.
 */
#define PM_LIBM_OF_ONE(name) PM_LIBM(double, name, (double x), (x))
#define PM_LIBM_OF_TWO(name) PM_LIBM(double, name, (double x, double y), (x, y))

PM_LIBM_OF_ONE(acos)
PM_LIBM_OF_ONE(asin)
PM_LIBM_OF_ONE(atan)
PM_LIBM_OF_ONE(ceil)
PM_LIBM_OF_ONE(cos)
PM_LIBM_OF_ONE(erfc)
PM_LIBM_OF_ONE(exp)
PM_LIBM_OF_ONE(exp2)
PM_LIBM_OF_ONE(floor)
PM_LIBM_OF_ONE(log)
PM_LIBM_OF_ONE(log1p)
PM_LIBM_OF_ONE(log2)
PM_LIBM_OF_ONE(round)
PM_LIBM_OF_ONE(sin)
PM_LIBM_OF_ONE(sqrt)
PM_LIBM_OF_ONE(tan)
PM_LIBM_OF_TWO(atan2)
PM_LIBM_OF_TWO(fmax)
PM_LIBM_OF_TWO(fmin)
PM_LIBM_OF_TWO(hypot)
PM_LIBM_OF_TWO(nextafter)
PM_LIBM_OF_TWO(pow)
PM_LIBM(double, ldexp, (double x, int exponent), (x, exponent))
PM_LIBM(long long, llround, (double x), (x))
PM_LIBM(long, lround, (double x), (x))
PM_LIBM(float, nextafterf, (float x, float y), (x, y))

#undef PM_LIBM_OF_ONE
#undef PM_LIBM_OF_TWO
