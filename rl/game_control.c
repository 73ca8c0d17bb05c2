/* CartPole-v1, Acrobot-v1 and MountainCar-v0, after gymnasium/envs/classic_control. The time limits
 * of their registration are part of them, as truncation. */
#include "rl/env.h"
#include "rl/games.h"
#include "rl/rng.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static double uniform(struct rl_rng *rng, double bound)
{
    return (2 * rl_rng_unit(rng) - 1) * bound;
}

static enum rl_end end_of(bool terminated, uint32_t steps, uint32_t limit)
{
    return terminated ? RL_TERMINATED : steps >= limit ? RL_TRUNCATED : RL_GOES_ON;
}

static void cartpole_reset(void *self, struct rl_rng *rng)
{
    *(struct rl_cartpole *)self = (struct rl_cartpole){
        .x = uniform(rng, 0.05),
        .speed = uniform(rng, 0.05),
        .angle = uniform(rng, 0.05),
        .spin = uniform(rng, 0.05),
    };
}

/* Barto, Sutton and Anderson 1983 with Florian's correction; explicit Euler, 20 ms. */
static struct rl_outcome cartpole_step(void *self, uint32_t action, struct rl_rng *rng)
{
    (void)rng;
    struct rl_cartpole *s = self;
    const double gravity = 9.8, pole_mass = 0.1, total_mass = 1.1, half = 0.5, tau = 0.02;
    double pole = pole_mass * half, force = action ? 10 : -10;
    double c = cos(s->angle), n = sin(s->angle);
    double temp = (force + pole * s->spin * s->spin * n) / total_mass;
    double turn = (gravity * n - c * temp) / (half * (4.0 / 3 - pole_mass * c * c / total_mass));
    double push = temp - pole * turn * c / total_mass;

    s->x += tau * s->speed;
    s->speed += tau * push;
    s->angle += tau * s->spin;
    s->spin += tau * turn;
    s->steps++;
    bool fell = fabs(s->x) > 2.4 || fabs(s->angle) > 12 * 2 * PI / 360;
    return (struct rl_outcome){.reward = 1, .end = end_of(fell, s->steps, 500)};
}

static void cartpole_observe(void *self, float *out)
{
    const struct rl_cartpole *s = self;

    out[0] = (float)s->x;
    out[1] = (float)s->speed;
    out[2] = (float)s->angle;
    out[3] = (float)s->spin;
}

void rl_cartpole_begin(void *memory, uint32_t variant, struct rl_env *env)
{
    (void)variant;
    memset(memory, 0, sizeof(struct rl_cartpole));
    *env = (struct rl_env){.self = memory,
                           .observation_size = 4,
                           .action_count = 2,
                           .reset = cartpole_reset,
                           .step = cartpole_step,
                           .observe = cartpole_observe,
                           .state = memory,
                           .state_size = sizeof(struct rl_cartpole)};
}

static void acrobot_reset(void *self, struct rl_rng *rng)
{
    *(struct rl_acrobot *)self = (struct rl_acrobot){
        .angle = {uniform(rng, 0.1), uniform(rng, 0.1)},
        .spin = {uniform(rng, 0.1), uniform(rng, 0.1)},
    };
}

/* d/dt of y = angle[2], spin[2] under a torque at the second joint: Sutton and Barto's form, all
 * lengths, masses and moments 1, centres of mass at 1/2. */
static void acrobot_slope(const double *y, double torque, double *slope)
{
    const double g = 9.8;
    double c2 = cos(y[1]), s2 = sin(y[1]);
    double d1 = 0.25 + (1 + 0.25 + c2) + 2;
    double d2 = 0.25 + 0.5 * c2 + 1;
    double phi2 = 0.5 * g * cos(y[0] + y[1] - PI / 2);
    double phi1 = -0.5 * y[3] * y[3] * s2 - y[3] * y[2] * s2 + 1.5 * g * cos(y[0] - PI / 2) + phi2;

    slope[0] = y[2];
    slope[1] = y[3];
    slope[3] = (torque + d2 / d1 * phi1 - 0.5 * y[2] * y[2] * s2 - phi2) / (1.25 - d2 * d2 / d1);
    slope[2] = -(d2 * slope[3] + phi1) / d1;
}

/* One step of the classical Runge-Kutta method of fourth order. */
static void acrobot_advance(double *y, double torque, double dt)
{
    static const double share[4] = {1, 2, 2, 1}, reach[4] = {0, 0.5, 0.5, 1};
    double k[4] = {0}, at[4], sum[4] = {0};

    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < 4; i++)
            at[i] = y[i] + reach[stage] * dt * k[i];
        acrobot_slope(at, torque, k);
        for (int i = 0; i < 4; i++)
            sum[i] += share[stage] * k[i];
    }
    for (int i = 0; i < 4; i++)
        y[i] += dt / 6 * sum[i];
}

static double wrap(double angle)
{
    while (angle > PI)
        angle -= 2 * PI;
    while (angle < -PI)
        angle += 2 * PI;
    return angle;
}

static struct rl_outcome acrobot_step(void *self, uint32_t action, struct rl_rng *rng)
{
    (void)rng;
    struct rl_acrobot *s = self;
    double y[4] = {s->angle[0], s->angle[1], s->spin[0], s->spin[1]};

    acrobot_advance(y, (double)action - 1, 0.2);
    s->angle[0] = wrap(y[0]);
    s->angle[1] = wrap(y[1]);
    s->spin[0] = fmin(fmax(y[2], -4 * PI), 4 * PI);
    s->spin[1] = fmin(fmax(y[3], -9 * PI), 9 * PI);
    s->steps++;
    bool up = -cos(s->angle[0]) - cos(s->angle[1] + s->angle[0]) > 1;
    return (struct rl_outcome){.reward = up ? 0 : -1, .end = end_of(up, s->steps, 500)};
}

static void acrobot_observe(void *self, float *out)
{
    const struct rl_acrobot *s = self;

    for (int i = 0; i < 2; i++) {
        out[2 * i] = (float)cos(s->angle[i]);
        out[2 * i + 1] = (float)sin(s->angle[i]);
        out[4 + i] = (float)s->spin[i];
    }
}

void rl_acrobot_begin(void *memory, uint32_t variant, struct rl_env *env)
{
    (void)variant;
    memset(memory, 0, sizeof(struct rl_acrobot));
    *env = (struct rl_env){.self = memory,
                           .observation_size = 6,
                           .action_count = 3,
                           .reset = acrobot_reset,
                           .step = acrobot_step,
                           .observe = acrobot_observe,
                           .state = memory,
                           .state_size = sizeof(struct rl_acrobot)};
}

static void mountaincar_reset(void *self, struct rl_rng *rng)
{
    *(struct rl_mountaincar *)self = (struct rl_mountaincar){.position = uniform(rng, 0.1) - 0.5};
}

static struct rl_outcome mountaincar_step(void *self, uint32_t action, struct rl_rng *rng)
{
    (void)rng;
    struct rl_mountaincar *s = self;

    s->speed += ((double)action - 1) * 0.001 + cos(3 * s->position) * -0.0025;
    s->speed = fmin(fmax(s->speed, -0.07), 0.07);
    s->position = fmin(fmax(s->position + s->speed, -1.2), 0.6);
    if (s->position <= -1.2 && s->speed < 0)
        s->speed = 0;
    s->steps++;
    bool there = s->position >= 0.5 && s->speed >= 0;
    return (struct rl_outcome){.reward = -1, .end = end_of(there, s->steps, 200)};
}

static void mountaincar_observe(void *self, float *out)
{
    const struct rl_mountaincar *s = self;

    out[0] = (float)s->position;
    out[1] = (float)s->speed;
}

void rl_mountaincar_begin(void *memory, uint32_t variant, struct rl_env *env)
{
    (void)variant;
    memset(memory, 0, sizeof(struct rl_mountaincar));
    *env = (struct rl_env){.self = memory,
                           .observation_size = 2,
                           .action_count = 3,
                           .reset = mountaincar_reset,
                           .step = mountaincar_step,
                           .observe = mountaincar_observe,
                           .state = memory,
                           .state_size = sizeof(struct rl_mountaincar)};
}
