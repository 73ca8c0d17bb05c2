#include "rl/scorer.h"

#include "rl/mem.h"

#include <math.h>

#define CLIP_NORM 10.0

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
    s->weight = rl_alloc(s->parameters, sizeof *s->weight);
    return s->weight ? RL_OK : RL_E_MEMORY;
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

/* out[width] = relu(x W + b), W row-major by input. */
static void layer(const float *x, uint32_t inputs, const float *weight, const float *bias,
                  uint32_t width, float *out)
{
    memcpy(out, bias, width * sizeof *out);
    for (uint32_t i = 0; i < inputs; i++) {
        const float *row = weight + (size_t)i * width;
        for (uint32_t j = 0; j < width; j++)
            out[j] += x[i] * row[j];
    }
    for (uint32_t j = 0; j < width; j++)
        out[j] = out[j] < 0 ? 0 : out[j];
}

static float score_one(const struct rl_scorer *s, const float *x, float *h1, float *h2)
{
    const float *w3 = layer3(s);
    float sum = w3[s->width];

    layer(x, s->features, s->weight, bias1(s), s->width, h1);
    layer(h1, s->width, layer2(s), layer2(s) + s->width * s->width, s->width, h2);
    for (uint32_t j = 0; j < s->width; j++)
        sum += w3[j] * h2[j];
    return sum;
}

void rl_scorer_score(const struct rl_scorer *s, const float *rows, uint32_t count, float *out)
{
    float h1[RL_SCORER_WIDTH_MOST], h2[RL_SCORER_WIDTH_MOST];

    for (uint32_t n = 0; n < count; n++)
        out[n] = score_one(s, rows + (size_t)n * s->features, h1, h2);
}

/* Adds what one row says, of slope d loss / d score, to the gradient. */
static void back_one(const struct rl_scorer *s, const float *x, float slope, float *gradient)
{
    float h1[RL_SCORER_WIDTH_MOST], h2[RL_SCORER_WIDTH_MOST], d1[RL_SCORER_WIDTH_MOST],
        d2[RL_SCORER_WIDTH_MOST];
    const float *w2 = layer2(s), *w3 = layer3(s);
    uint32_t width = s->width;
    float *g1 = gradient, *b1 = g1 + s->features * width, *g2 = b1 + width,
          *b2 = g2 + width * width, *g3 = b2 + width;

    (void)score_one(s, x, h1, h2);
    for (uint32_t j = 0; j < width; j++) {
        g3[j] += slope * h2[j];
        d2[j] = h2[j] > 0 ? slope * w3[j] : 0;
        b2[j] += d2[j];
    }
    g3[width] += slope;
    for (uint32_t i = 0; i < width; i++) {
        float sum = 0;
        d1[i] = 0;
        if (!(h1[i] > 0))
            continue;
        for (uint32_t j = 0; j < width; j++) {
            g2[i * width + j] += h1[i] * d2[j];
            sum += w2[i * width + j] * d2[j];
        }
        d1[i] = sum;
        b1[i] += sum;
    }
    for (uint32_t i = 0; i < s->features; i++) {
        for (uint32_t j = 0; j < width; j++)
            g1[i * width + j] += x[i] * d1[j];
    }
}

/* Loss of one group; adds to the gradient. */
static double group_loss(const struct rl_scorer *s, const float *rows, const float *gap,
                         uint32_t count, double temperature, double part, float *gradient)
{
    float h1[RL_SCORER_WIDTH_MOST], h2[RL_SCORER_WIDTH_MOST];
    double most = -INFINITY, least = INFINITY, sum = 0, wanted = 0, loss = 0;

    for (uint32_t n = 0; n < count; n++) {
        most = fmax(most, (double)score_one(s, rows + (size_t)n * s->features, h1, h2));
        least = fmin(least, (double)gap[n]);
    }
    for (uint32_t n = 0; n < count; n++) {
        sum += exp((double)score_one(s, rows + (size_t)n * s->features, h1, h2) - most);
        wanted += exp((least - (double)gap[n]) / temperature);
    }
    for (uint32_t n = 0; n < count; n++) {
        const float *x = rows + (size_t)n * s->features;
        double score = (double)score_one(s, x, h1, h2) - most;
        double p = exp(score) / sum, q = exp((least - (double)gap[n]) / temperature) / wanted;
        loss -= q * (score - log(sum));
        if (fabs(p - q) > 1e-7)
            back_one(s, x, (float)(part * (p - q)), gradient);
    }
    return loss;
}

double rl_scorer_loss(const struct rl_scorer *s, const struct rl_groups *g, double temperature,
                      float *gradient)
{
    double loss = 0, part = 1.0 / (g->count ? g->count : 1);

    memset(gradient, 0, s->parameters * sizeof *gradient);
    for (uint32_t k = 0; k < g->count; k++) {
        uint32_t first = g->first[k];
        loss += part * group_loss(s, g->rows + (size_t)first * s->features, g->gap + first,
                                  g->first[k + 1] - first, temperature, part, gradient);
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
    RL_MANY(w, s->weight, s->parameters);
    for (uint32_t i = 0; w->pass == RL_READ && i < s->parameters; i++)
        w->failed |= !isfinite(s->weight[i]);
}
