#include "rl/scorer.h"

#include "rl/aligned.h"

#include <math.h>

#define CLIP_NORM 10.0
#define DEVIATION_LEAST 1e-3

static float *bias1(const struct rl_scorer *s)
{
    return s->weight + s->features * s->width;
}

static float *layer2(const struct rl_scorer *s)
{
    return bias1(s) + s->width;
}

static float *layer3(const struct rl_scorer *s)
{
    return layer2(s) + (s->width + 1) * s->width;
}

static int take_room(struct rl_scorer *s, uint32_t features, uint32_t width)
{
    if (!features || features > RL_SCORER_FEATURES_MOST || !width || width > RL_SCORER_WIDTH_MOST)
        return RL_E_SHAPE;
    *s = (struct rl_scorer){.features = features, .width = width};
    s->parameters = (features + 1) * width + (width + 1) * width + width + 1;
    s->weight = rl_alloc(s->parameters + 2 * (size_t)features, sizeof *s->weight);
    if (!s->weight)
        return RL_E_MEMORY;
    s->shift = s->weight + s->parameters;
    s->scale = s->shift + features;
    for (uint32_t i = 0; i < features; i++)
        s->scale[i] = 1;
    return RL_OK;
}

int rl_scorer_new(struct rl_scorer *s, uint32_t features, uint32_t width, struct rl_rng *rng)
{
    int code = take_room(s, features, width);

    for (uint32_t i = 0; !code && i < s->parameters; i++) {
        double inputs = i < (features + 1) * width ? features : width;
        s->weight[i] = (float)((2 * rl_rng_unit(rng) - 1) / sqrt(inputs));
    }
    return code;
}

void rl_scorer_free(struct rl_scorer *s)
{
    free(s->weight);
    *s = (struct rl_scorer){0};
}

int rl_scorer_copy(struct rl_scorer *to, const struct rl_scorer *from)
{
    if (to->features != from->features || to->width != from->width)
        return RL_E_SHAPE;
    memcpy(to->weight, from->weight, (to->parameters + 2 * to->features) * sizeof *to->weight);
    return RL_OK;
}

void rl_scorer_standardise(struct rl_scorer *s, const float *rows, uint32_t count)
{
    for (uint32_t i = 0; i < s->features && count; i++) {
        double sum = 0, square = 0;
        for (uint32_t n = 0; n < count; n++)
            sum += (double)rows[(size_t)n * s->features + i];
        double mean = sum / count;
        for (uint32_t n = 0; n < count; n++) {
            double off = (double)rows[(size_t)n * s->features + i] - mean;
            square += off * off;
        }
        s->shift[i] = (float)mean;
        s->scale[i] = (float)(1 / (sqrt(square / count) + DEVIATION_LEAST));
    }
}

/* ---- products ---- */

/* A strided matrix: element (m, k) at data[m * row + k * column]. */
struct strided {
    const float *data;
    size_t row, column;
};

enum { TILE_ROWS = 8, TILE_COLUMNS = 8 };

/* A row of a tile, side by side; where vectors are narrower the compiler takes several. */
typedef float tile_row __attribute__((vector_size(TILE_COLUMNS * sizeof(float)), aligned(4)));

/* Of a tile, what add_product sums. Inlined, so that its copy for wide vectors has one of this. The
 * sums are eight variables, which stay in registers: of an array every product was stored. */
__attribute__((always_inline)) static inline void
whole_tile(uint32_t depth, uint32_t width, struct strided a, uint32_t m, const float *b, float *c)
{
    const float *x = a.data + m * a.row;
    tile_row s0, s1, s2, s3, s4, s5, s6, s7;

#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define TAKE(r) memcpy(&s##r, c + (size_t)r * width, sizeof s##r);
#define ADD(r) s##r += x[r * a.row + k * a.column] * w;
#define GIVE(r) memcpy(c + (size_t)r * width, &s##r, sizeof s##r);
    EACH_ROW(TAKE)
    for (uint32_t k = 0; k < depth; k++) {
        tile_row w;
        memcpy(&w, b + (size_t)k * width, sizeof w);
        EACH_ROW(ADD)
    }
    EACH_ROW(GIVE)
#undef EACH_ROW
#undef TAKE
#undef ADD
#undef GIVE
}

static void part_tile(uint32_t depth, uint32_t width, struct strided a, uint32_t m, const float *b,
                      uint32_t high, uint32_t wide, float *c)
{
    float sum[TILE_ROWS][TILE_COLUMNS];

    for (uint32_t r = 0; r < high; r++)
        memcpy(sum[r], c + (size_t)r * width, wide * sizeof **sum);
    for (uint32_t k = 0; k < depth; k++) {
        for (uint32_t r = 0; r < high; r++) {
            float x = a.data[(m + r) * a.row + k * a.column];
            for (uint32_t j = 0; j < wide; j++)
                sum[r][j] += x * b[(size_t)k * width + j];
        }
    }
    for (uint32_t r = 0; r < high; r++)
        memcpy(c + (size_t)r * width, sum[r], wide * sizeof **sum);
}

/* c[rows x width] += a[rows x depth] b[depth x width]; c and b row-major. Every sum runs over depth
 * in ascending order, whatever the tiles: no bit depends on how wide the machine's vectors are. */
RL_WIDE static void add_product(uint32_t rows, uint32_t depth, uint32_t width, struct strided a,
                                const float *b, float *c)
{
    for (uint32_t m = 0; m < rows; m += TILE_ROWS) {
        uint32_t high = rows - m < TILE_ROWS ? rows - m : TILE_ROWS;
        for (uint32_t j = 0; j < width; j += TILE_COLUMNS) {
            uint32_t wide = width - j < TILE_COLUMNS ? width - j : TILE_COLUMNS;
            float *to = c + (size_t)m * width + j;
            if (high == TILE_ROWS && wide == TILE_COLUMNS)
                whole_tile(depth, width, a, m, b + j, to);
            else
                part_tile(depth, width, a, m, b + j, high, wide, to);
        }
    }
}

/* ---- forward and back ---- */

enum { BLOCK = RL_SCORER_GROUP_MOST }; /* rows at a time */
struct activity {
    float input[BLOCK * RL_SCORER_FEATURES_MOST]; /* standardised */
    float first[BLOCK * RL_SCORER_WIDTH_MOST], second[BLOCK * RL_SCORER_WIDTH_MOST];
};

/* out[rows x width] = relu(x W + b). */
static void layer(const float *x, uint32_t rows, uint32_t inputs, const float *weight,
                  const float *bias, uint32_t width, float *out)
{
    for (uint32_t r = 0; r < rows; r++)
        memcpy(out + (size_t)r * width, bias, width * sizeof *out);
    add_product(rows, inputs, width, (struct strided){x, inputs, 1}, weight, out);
    for (uint32_t n = 0; n < rows * width; n++)
        out[n] = out[n] < 0 ? 0 : out[n];
}

/* At most BLOCK rows. */
static void forward(const struct rl_scorer *s, const float *x, uint32_t rows, struct activity *h,
                    float *out)
{
    const float *w2 = layer2(s), *w3 = layer3(s);
    uint32_t width = s->width;

    for (uint32_t n = 0; n < rows * s->features; n += s->features) {
        for (uint32_t i = 0; i < s->features; i++)
            h->input[n + i] = (x[n + i] - s->shift[i]) * s->scale[i];
    }
    layer(h->input, rows, s->features, s->weight, bias1(s), width, h->first);
    layer(h->first, rows, width, w2, w2 + width * width, width, h->second);
    for (uint32_t r = 0; r < rows; r++) {
        float sum = w3[width];
        for (uint32_t j = 0; j < width; j++)
            sum += w3[j] * h->second[(size_t)r * width + j];
        out[r] = sum;
    }
}

void rl_scorer_score(const struct rl_scorer *s, const float *rows, uint32_t count, float *out)
{
    struct activity h;

    for (uint32_t n = 0; n < count; n += BLOCK)
        forward(s, rows + (size_t)n * s->features, count - n < BLOCK ? count - n : BLOCK, &h,
                out + n);
}

static void add_columns(const float *x, uint32_t rows, uint32_t width, float *sum)
{
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t j = 0; j < width; j++)
            sum[j] += x[(size_t)r * width + j];
    }
}

/* Adds to the gradient what at most BLOCK rows say, whose d loss / d score is `slope`.
 * `across`: W2 transposed. */
static void back(const struct rl_scorer *s, uint32_t rows, const struct activity *h,
                 const float *slope, const float *across, float *gradient)
{
    float d1[BLOCK * RL_SCORER_WIDTH_MOST] = {0}, d2[BLOCK * RL_SCORER_WIDTH_MOST];
    const float *w3 = layer3(s);
    uint32_t width = s->width;
    float *g1 = gradient, *b1 = g1 + s->features * width, *g2 = b1 + width,
          *b2 = g2 + width * width, *g3 = b2 + width;

    for (uint32_t r = 0; r < rows; r++) {
        const float *h2 = h->second + (size_t)r * width;
        g3[width] += slope[r];
        for (uint32_t j = 0; j < width; j++) {
            g3[j] += slope[r] * h2[j];
            d2[(size_t)r * width + j] = h2[j] > 0 ? slope[r] * w3[j] : 0;
        }
    }
    add_product(rows, width, width, (struct strided){d2, width, 1}, across, d1);
    for (uint32_t n = 0; n < rows * width; n++)
        d1[n] = h->first[n] > 0 ? d1[n] : 0;
    add_columns(d2, rows, width, b2);
    add_columns(d1, rows, width, b1);
    add_product(width, rows, width, (struct strided){h->first, 1, width}, d2, g2);
    add_product(s->features, rows, width, (struct strided){h->input, 1, s->features}, d1, g1);
}

/* slope[] = score[] becomes softmax(score) - softmax(-gap / temperature), times `part`; the loss.
 */
static double slopes(float *score, const float *gap, uint32_t count, double temperature,
                     double part)
{
    double most = -INFINITY, least = INFINITY, sum = 0, wanted = 0, loss = 0;

    for (uint32_t n = 0; n < count; n++) {
        most = fmax(most, (double)score[n]);
        least = fmin(least, (double)gap[n]);
    }
    for (uint32_t n = 0; n < count; n++) {
        sum += exp((double)score[n] - most);
        wanted += exp((least - (double)gap[n]) / temperature);
    }
    for (uint32_t n = 0; n < count; n++) {
        double own = (double)score[n] - most;
        double p = exp(own) / sum, q = exp((least - (double)gap[n]) / temperature) / wanted;
        loss -= q * (own - log(sum));
        score[n] = (float)(part * (p - q));
    }
    return loss;
}

struct loss_rule {
    double temperature, part; /* of the batch that a group is */
    const float *across;      /* W2 transposed */
};

/* One group, of at most RL_SCORER_GROUP_MOST candidates. */
static double group_loss(const struct rl_scorer *s, const float *rows, const float *gap,
                         uint32_t count, const struct loss_rule *rule, float *gradient)
{
    float slope[BLOCK];
    struct activity h;

    forward(s, rows, count, &h, slope);
    double loss = slopes(slope, gap, count, rule->temperature, rule->part);
    back(s, count, &h, slope, rule->across, gradient);
    return loss;
}

double rl_scorer_loss(const struct rl_scorer *s, const struct rl_groups *g, double temperature,
                      float *gradient)
{
    float across[RL_SCORER_WIDTH_MOST * RL_SCORER_WIDTH_MOST];
    struct loss_rule rule = {temperature, 1.0 / (g->count ? g->count : 1), across};
    const float *w2 = layer2(s);
    double loss = 0;

    for (uint32_t i = 0; i < s->width; i++) {
        for (uint32_t j = 0; j < s->width; j++)
            across[j * s->width + i] = w2[i * s->width + j];
    }
    memset(gradient, 0, s->parameters * sizeof *gradient);
    for (uint32_t k = 0; k < g->count; k++) {
        uint32_t first = g->first[k];
        loss += rule.part * group_loss(s, g->rows + (size_t)first * s->features, g->gap + first,
                                       g->first[k + 1] - first, &rule, gradient);
    }
    return loss;
}

int rl_scorer_adam_new(struct rl_scorer_adam *a, const struct rl_scorer *s)
{
    float *block = rl_alloc(3 * (size_t)s->parameters, sizeof *block);

    *a = (struct rl_scorer_adam){.gradient = block};
    if (!block)
        return RL_E_MEMORY;
    a->adam.mean = block + s->parameters;
    a->adam.square = block + 2 * (size_t)s->parameters;
    return RL_OK;
}

void rl_scorer_adam_serialize(struct rl_serializer *w, struct rl_scorer_adam *a,
                              uint32_t parameters)
{
    RL_MANY(w, a->adam.mean, parameters);
    RL_MANY(w, a->adam.square, parameters);
    RL_ONE(w, a->adam.step);
}

void rl_scorer_adam_free(struct rl_scorer_adam *a)
{
    free(a->gradient);
    *a = (struct rl_scorer_adam){0};
}

int rl_scorer_learn(struct rl_scorer *s, struct rl_scorer_adam *a, const struct rl_groups *g,
                    double temperature, double rate, double *loss)
{
    struct rl_adam_rule rule = {rate, 0.9, 0.999, 1e-8};

    *loss = rl_scorer_loss(s, g, temperature, a->gradient);
    double norm = rl_adam_norm(a->gradient, s->parameters);
    if (!isfinite(*loss) || !isfinite(norm))
        return RL_E_DIVERGED;
    float scale = norm > CLIP_NORM ? (float)(CLIP_NORM / norm) : 1;
    rl_adam_step(&a->adam, &rule, scale, a->gradient, s->weight, s->parameters);
    return RL_OK;
}

void rl_scorer_serialize(struct rl_serializer *w, struct rl_scorer *s)
{
    uint32_t features = s->features, width = s->width;

    RL_ONE(w, features);
    RL_ONE(w, width);
    if (w->pass == RL_READ && !w->failed)
        w->failed = take_room(s, features, width) != RL_OK;
    if (w->failed)
        return;
    uint32_t all = s->parameters + 2 * features;
    RL_MANY(w, s->weight, all);
    for (uint32_t i = 0; w->pass == RL_READ && i < all; i++)
        w->failed |= !isfinite(s->weight[i]);
}
