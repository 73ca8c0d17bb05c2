/* automap bench rl: how fast the learner learns, held against the products of matrices alone and
 * against the same update in PyTorch, if there is a Python that has it. */
#include "rl/action_set.h"
#include "rl/agent.h"
#include "rl/agent_state.h"
#include "rl/env.h"
#include "rl/error.h"
#include "rl/net.h"
#include "rl/replay.h"
#include "rl/rng.h"
#include "rl/settings.h"
#include "tui/commands/bench.h"
#include "tui/commands/commands.h"
#include "tui/options/option.h"

#include "rl/games.h"
#include "rl/product_limit.h"
#include "rl/run.h"
#include "tui/options/exit_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHAPES = 2, BATCH = 64, HELD = 2000 };

static const struct shape {
    const char *name;
    uint32_t observation, hidden, actions;
} shapes[SHAPES] = {
    {"64-128-128-16", 64, 128, 16},
    {"256-256-256-64", 256, 256, 64},
};

struct options {
    double seconds;     /* of each measurement */
    const char *python; /* NULL: no PyTorch */
    bool no_torch;
};

/* One learner with a full replay, and what it is held against. */
struct subject {
    struct rl_agent *agent;
    struct rl_limit limit;
    double update_s, limit_s, torch_s; /* best round; 0: not measured */
};

/* The same update by PyTorch: uniform draws, double, Huber, norm clip, Adam, one thread. The copy
 * to the target every 100 updates is left out there. Prints seconds per update for each shape. */
static const char torch_script[] =
    "import sys, time\n"
    "try:\n"
    "    import torch\n"
    "except ImportError:\n"
    "    sys.exit(7)\n"
    "torch.set_num_threads(1)\n"
    "F = torch.nn.functional\n"
    "def net(w):\n"
    "    parts = []\n"
    "    for a, b in zip(w, w[1:]):\n"
    "        parts += [torch.nn.Linear(a, b), torch.nn.ReLU()]\n"
    "    return torch.nn.Sequential(*parts[:-1])\n"
    "def run(w, batch, held, seconds):\n"
    "    online, target = net(w), net(w)\n"
    "    opt = torch.optim.Adam(online.parameters(), 5e-4)\n"
    "    S, T, R = torch.rand(held, w[0]), torch.rand(held, w[0]), torch.rand(held)\n"
    "    A, D = torch.randint(0, w[-1], (held, 1)), torch.zeros(held)\n"
    "    def update():\n"
    "        i = torch.randint(0, held, (batch,))\n"
    "        s, t, a, r, d = S[i], T[i], A[i], R[i], D[i]\n"
    "        with torch.no_grad():\n"
    "            best = online(t).argmax(1, keepdim=True)\n"
    "            goal = r + 0.6 * (1 - d) * target(t).gather(1, best).squeeze(1)\n"
    "        loss = F.smooth_l1_loss(online(s).gather(1, a).squeeze(1), goal)\n"
    "        opt.zero_grad()\n"
    "        loss.backward()\n"
    "        torch.nn.utils.clip_grad_norm_(online.parameters(), 10.0)\n"
    "        opt.step()\n"
    "    for _ in range(30):\n"
    "        update()\n"
    "    least, start = 1e9, time.perf_counter()\n"
    "    while time.perf_counter() - start < seconds:\n"
    "        t0 = time.perf_counter()\n"
    "        for _ in range(2):\n"
    "            update()\n"
    "        least = min(least, (time.perf_counter() - t0) / 2)\n"
    "    print(least, flush=True)\n"
    "seconds = float(sys.argv[1])\n"
    "print(torch.__version__)\n"
    "for w in sys.argv[4:]:\n"
    "    run([int(x) for x in w.split('-')], int(sys.argv[2]), int(sys.argv[3]), seconds)\n";

static int fill_replay(struct rl_agent *a, const struct shape *s)
{
    struct rl_rng rng;
    float now[256], next[256];
    uint64_t legal[RL_WORDS_MAX];
    int code = 0;

    rl_put_all(legal, s->actions);
    rl_rng_seed(&rng, 1, 9);
    for (int i = 0; i < HELD && code >= 0; i++) {
        for (uint32_t k = 0; k < s->observation; k++) {
            now[k] = (float)rl_rng_unit(&rng);
            next[k] = (float)rl_rng_unit(&rng);
        }
        struct rl_decision d = {
            .observation = now,
            .next = next,
            .legal = legal,
            .next_legal = legal,
            .action = rl_rng_below(&rng, s->actions),
            .reward = (float)rl_rng_unit(&rng),
            .end = RL_GOES_ON,
        };
        code = rl_agent_learn(a, &d, 0, NULL);
    }
    return code;
}

static int prepare_subject(struct subject *to, const struct shape *s)
{
    struct rl_settings settings = *rl_preset("paper-opp");
    struct rl_shape shape = {s->observation, s->actions, 0};
    struct rl_net net;

    settings.hidden[0] = settings.hidden[1] = s->hidden;
    settings.batch = BATCH;
    settings.learn_start = HELD + 1;
    settings.n_step = 1;
    settings.dueling = settings.prioritized = false;
    int code = rl_agent_new(&to->agent, &shape, &settings, 1);
    if (!code)
        code = rl_net_init(&net, s->observation, settings.hidden, s->actions);
    if (!code)
        code = rl_limit_init(&to->limit, &net, BATCH);
    return code ? code : fill_replay(to->agent, s);
}

static void keep_least(double *least, double seconds)
{
    if (*least == 0 || seconds < *least)
        *least = seconds;
}

/* Rounds of updates and rounds of products by turns, so that both meet the same machine; short, so
 * that the best of them was not interrupted. */
static int measure_subject(struct subject *to, double seconds)
{
    enum { ROUND = 5 };
    double end = bench_now() + 2 * seconds;

    while (bench_now() < end) {
        double start = bench_now();
        int code = rl_agent_train(to->agent, ROUND, NULL);
        double middle = bench_now();
        for (int i = 0; i < ROUND; i++)
            rl_limit_run(&to->limit);
        if (code < 0)
            return code;
        keep_least(&to->update_s, (middle - start) / ROUND);
        keep_least(&to->limit_s, (bench_now() - middle) / ROUND);
    }
    return RL_OK;
}

/* Starts the script with its output in a pipe; the reading end, or NULL. */
static FILE *start_python(const struct options *o, pid_t *child)
{
    char seconds[32], batch[16], held[16];

    snprintf(seconds, sizeof seconds, "%g", o->seconds);
    snprintf(batch, sizeof batch, "%d", BATCH);
    snprintf(held, sizeof held, "%d", HELD);
    const char *const argv[] = {o->python, "-c",           torch_script,   seconds, batch,
                                held,      shapes[0].name, shapes[1].name, NULL};
    return bench_start(argv, NULL, child);
}

/* Fills torch_s of every subject and the version; false: there is no PyTorch. */
static bool ask_torch(const struct options *o, struct subject *subjects, char version[32])
{
    pid_t child;
    char line[32];
    int status, found = 0;
    FILE *in = start_python(o, &child);

    if (!in)
        return false;
    if (fgets(line, sizeof line, in)) {
        line[strcspn(line, "+\n")] = 0;
        memcpy(version, line, sizeof line);
        for (; found < SHAPES && fgets(line, sizeof line, in); found++)
            subjects[found].torch_s = strtod(line, NULL);
    }
    fclose(in);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return found == SHAPES && subjects[0].torch_s > 0 && subjects[1].torch_s > 0;
}

static void print_updates(const struct subject *subjects, const char *version)
{
    printf("updates of a double DQN, batch %d, one thread, best of short rounds\n", BATCH);
    printf("%-16s %9s %9s %11s %9s %9s", "network", "per s", "us", "products us", "GFLOP/s",
           "of limit");
    if (version)
        printf(" %11s %7s", "PyTorch us", "ratio");
    putchar('\n');
    for (int i = 0; i < SHAPES; i++) {
        const struct subject *s = &subjects[i];
        printf("%-16s %9.0f %9.1f %11.1f %9.1f %7.0f %%", shapes[i].name, 1 / s->update_s,
               1e6 * s->update_s, 1e6 * s->limit_s, 1e-9 * s->limit.flops / s->limit_s,
               100 * s->limit_s / s->update_s);
        if (version)
            printf(" %11.1f %6.2fx", 1e6 * s->torch_s, s->torch_s / s->update_s);
        putchar('\n');
    }
    if (version)
        printf("PyTorch %s\n", version);
    puts("products: three forward passes, two backward, as a textbook has them, by OpenBLAS;\n"
         "targets: 60 % of that limit; 5x PyTorch where the products leave room for it");
}

/* Decisions per second of CleanRL's recipe while it learns, and of the game alone. */
static int bench_cartpole(double seconds)
{
    struct rl_cartpole memory;
    struct rl_env env;
    struct rl_agent *a;
    struct rl_run run;
    struct rl_step step;
    struct rl_settings s = *rl_preset("cartpole");
    struct rl_shape shape = {4, 2, 0};

    rl_cartpole_begin(&memory, 0, &env);
    int code = rl_agent_new(&a, &shape, &s, 1);
    if (code)
        return code;
    code = rl_run_init(&run, &env, a, 1);
    for (uint32_t i = 0; i < s.learn_start && !code; i++)
        code = rl_run_step(&run, -1, &step);
    rl_agent_hold_epsilon(a, s.epsilon_end); /* as it is for most of a run */
    double start = bench_now(), end = start + seconds;
    uint64_t decisions = 0;
    for (; !code && bench_now() < end; decisions += 100) {
        for (int i = 0; i < 100 && !code; i++)
            code = rl_run_step(&run, -1, &step);
    }
    printf("CartPole by CleanRL's recipe: %.0f decisions/s while learning\n",
           (double)decisions / (bench_now() - start));
    rl_run_release(&run);
    rl_agent_free(a);
    return code;
}

static void bench_game(double seconds)
{
    struct rl_cartpole memory;
    struct rl_env env;
    struct rl_rng rng;
    uint64_t steps = 0;
    float seen[4];

    rl_rng_seed(&rng, 1, 0);
    rl_cartpole_begin(&memory, 0, &env);
    double start = bench_now(), end = start + seconds;
    for (; bench_now() < end; steps += 10000) {
        env.reset(env.self, &rng);
        for (int i = 0; i < 10000; i++) {
            if (env.step(env.self, (uint32_t)(rl_rng_next(&rng) >> 63), &rng).end != RL_GOES_ON)
                env.reset(env.self, &rng);
            env.observe(env.self, seen);
        }
    }
    printf("CartPole alone: %.1f million steps/s\n", 1e-6 * (double)steps / (bench_now() - start));
}

#define ARG(field) INTO(struct options, field)
static const struct option rows[] = {
    {"seconds", "S", "of every measurement (default: 1)", .kind = OPTION_REAL, ARG(seconds),
     .least = 0.001, .most = 3600},
    {"python", "PATH", "a Python that has PyTorch (default: python3)", .kind = OPTION_FILE,
     ARG(python)},
    {"no-torch", NULL, "without PyTorch", ARG(no_torch)},
    {0},
};
#undef ARG
static const struct option_set options[] = {{.rows = rows}, {0}};

static int run_rl(int argc, char **argv)
{
    const struct option_parser parser = {"bench rl", options, NULL};
    struct options o = {.seconds = 1, .python = "python3"};
    struct subject subjects[SHAPES] = {{0}};
    char version[32];
    int code = RL_OK, parsed = options_parse(&parser, &o, argc, argv);

    if (parsed)
        return parsed;
    if (o.no_torch)
        o.python = NULL;
    for (int i = 0; i < SHAPES && code >= 0; i++) {
        code = prepare_subject(&subjects[i], &shapes[i]);
        if (code >= 0)
            code = measure_subject(&subjects[i], o.seconds);
    }
    if (code >= 0) {
        bool torch = o.python && ask_torch(&o, subjects, version);
        print_updates(subjects, torch ? version : NULL);
        if (o.python && !torch)
            printf("no PyTorch with %s: pip install torch, or --python PATH\n", o.python);
        code = bench_cartpole(o.seconds);
    }
    if (code >= 0)
        bench_game(o.seconds);
    for (int i = 0; i < SHAPES; i++) {
        rl_agent_free(subjects[i].agent);
        rl_limit_release(&subjects[i].limit);
    }
    if (code < 0)
        fprintf(stderr, "automap bench rl: %s\n", rl_error_text(code));
    return code < 0 ? EXIT_INPUT : EXIT_OK;
}

const struct command bench_rl = {
    .name = "bench rl",
    .usage = "",
    .summary = "updates of the learner against PyTorch and the speed of the matrix products",
    .about =
        "Measures updates of the learner against PyTorch and the speed of the matrix products.",
    .options = options,
    .run = run_rl,
};
