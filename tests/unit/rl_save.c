/* Determinism: same seed, same bits; stopped and resumed equals uninterrupted; two learners in two
 * threads do not meet; looking changes nothing; damaged bytes are refused. */
#include "rl/games.h"
#include "rl/rl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rig {
    struct rl_cartpole memory;
    struct rl_run run;
    struct rl_agent *agent;
};

static struct rl_settings quick(void)
{
    struct rl_settings s = *rl_preset("cartpole-rainbow");

    s.hidden[0] = 24;
    s.hidden[1] = 16;
    s.replay_capacity = 300;
    s.batch = 16;
    s.learn_start = 50;
    s.train_every = 2;
    s.epsilon_steps = 500;
    s.dueling = true;
    return s;
}

static void start(struct rig *g, const struct rl_settings *s, uint64_t seed)
{
    struct rl_env env;

    rl_cartpole_begin(&g->memory, 0, &env);
    struct rl_shape shape = {env.observation_size, env.action_count, 0};
    assert_int_equal(rl_agent_new(&g->agent, &shape, s, seed), 0);
    assert_int_equal(rl_run_init(&g->run, &env, g->agent, seed), 0);
}

static void play(struct rig *g, int decisions)
{
    struct rl_step step;

    while (decisions-- > 0)
        assert_int_equal(rl_run_step(&g->run, -1, &step), 0);
}

static void stop(struct rig *g);

/* Exploration goes on where it stood: from its origin, by decisions and by episodes, or held; and
 * what was drawn how often is known. */
static void test_exploration_is_saved(void **state)
{
    (void)state;
    struct rl_settings s = quick();
    for (int kind = 0; kind < 3; kind++) {
        struct rig g;
        struct rl_bytes bytes;
        struct rl_agent *back;
        start(&g, &s, 3);
        play(&g, 200);
        assert_int_equal(rl_agent_explore(g.agent, 0.8, 0.1, 100), 0);
        struct rl_settings changed = *rl_agent_settings(g.agent);
        changed.epsilon_episodes = kind == 1 ? 50 : 0;
        assert_int_equal(rl_agent_configure(g.agent, &changed), 0);
        play(&g, 60);
        if (kind == 2)
            rl_agent_hold_epsilon(g.agent, 0.33);
        double epsilon = rl_agent_epsilon(g.agent);
        assert_true(epsilon > 0.1 && epsilon < 0.8);
        assert_int_equal(rl_agent_save(g.agent, &bytes), 0);
        assert_int_equal(rl_agent_load(&back, bytes.data, bytes.size), 0);
        assert_true(rl_agent_epsilon(back) == epsilon);
        const struct rl_replay *r = rl_agent_replay(g.agent);
        assert_memory_equal(rl_agent_replay(back)->drawn, r->drawn, r->count * sizeof *r->drawn);
        rl_bytes_release(&bytes);
        rl_agent_free(back);
        stop(&g);
    }
}

static void stop(struct rig *g)
{
    rl_run_release(&g->run);
    rl_agent_free(g->agent);
}

/* The whole state as bytes: equal bytes, equal future. */
static struct rl_bytes state_of(struct rig *g)
{
    struct rl_bytes b;

    assert_int_equal(rl_run_save(&g->run, &b), 0);
    return b;
}

static void assert_same(struct rig *a, struct rig *b)
{
    struct rl_bytes x = state_of(a), y = state_of(b);

    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    rl_bytes_release(&x);
    rl_bytes_release(&y);
}

static void test_same_seed_same_bits(void **state)
{
    (void)state;
    struct rl_settings s = quick();
    struct rig a, b, c;
    start(&a, &s, 5);
    start(&b, &s, 5);
    start(&c, &s, 6);
    play(&a, 1000);
    play(&b, 1000);
    play(&c, 1000);
    assert_same(&a, &b);
    struct rl_bytes x = state_of(&a), y = state_of(&c);
    assert_true(x.size != y.size || memcmp(x.data, y.data, x.size) != 0);
    rl_bytes_release(&x);
    rl_bytes_release(&y);
    stop(&a);
    stop(&b);
    stop(&c);
}

/* Stopped before training, within the first lap of the ring, and after; each in mid-episode. */
static void test_resume(void **state)
{
    (void)state;
    static const int cuts[] = {0, 33, 217, 800};
    for (int i = 0; i < 4; i++) {
        struct rl_settings s = quick();
        s.prioritized = i != 2;
        s.return_bound = i != 1; /* returns known are part of what goes on */
        struct rig straight, first, second;
        start(&straight, &s, 9);
        play(&straight, 1200);
        start(&first, &s, 9);
        play(&first, cuts[i]);
        struct rl_bytes saved = state_of(&first);
        stop(&first);

        start(&second, &s, 1234); /* another seed: all of it must come from the bytes */
        struct rl_agent *fresh = second.agent;
        assert_int_equal(rl_run_load(&second.run, saved.data, saved.size), 0);
        second.agent = second.run.agent;
        rl_agent_free(fresh);
        rl_bytes_release(&saved);
        play(&second, 1200 - cuts[i]);
        assert_same(&straight, &second);
        stop(&straight);
        stop(&second);
    }
}

/* A person looks at everything between decisions. */
static void test_looking_changes_nothing(void **state)
{
    (void)state;
    struct rl_settings s = quick();
    struct rig a, b;
    float q[2];
    start(&a, &s, 5);
    start(&b, &s, 5);
    for (int i = 0; i < 400; i++) {
        play(&a, 1);
        rl_run_ready(&b.run);
        rl_agent_q(b.agent, b.run.now, &(uint64_t){3}, q);
        (void)rl_agent_epsilon(b.agent);
        assert_true(rl_agent_visits(b.agent, 0)[0] <= (uint32_t)i);
        play(&b, 1);
        rl_agent_q(b.agent, b.run.now, &(uint64_t){2}, q);
        struct rl_bytes copy;
        if (i % 100 == 0) {
            assert_int_equal(rl_agent_save(b.agent, &copy), 0);
            rl_bytes_release(&copy);
        }
    }
    rl_run_ready(&a.run);
    rl_run_ready(&b.run);
    assert_same(&a, &b);
    stop(&a);
    stop(&b);
}

/* Switches flipped on the way are part of a run, too. */
static void flip_and_play(struct rig *g)
{
    struct rl_settings s = quick();

    play(g, 300);
    s.dueling = s.prioritized = false;
    s.batch = 33;
    s.n_step = 1;
    assert_int_equal(rl_agent_configure(g->agent, &s), 0);
    play(g, 300);
    s.dueling = s.prioritized = true;
    s.alpha = 0.3;
    s.target_tau = 0.01;
    assert_int_equal(rl_agent_configure(g->agent, &s), 0);
    assert_int_equal(rl_agent_explore(g->agent, 0.5, 0.1, 200), 0);
    play(g, 100);
    rl_run_cut(&g->run);
    play(g, 200);
}

static void *in_thread(void *rig)
{
    flip_and_play(rig);
    return NULL;
}

static void test_two_threads(void **state)
{
    (void)state;
    struct rl_settings s = quick();
    struct rig alone[2], beside[2];
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        start(&alone[i], &s, (uint64_t)i);
        flip_and_play(&alone[i]);
        start(&beside[i], &s, (uint64_t)i);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, in_thread, &beside[i]), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < 2; i++) {
        assert_same(&alone[i], &beside[i]);
        stop(&alone[i]);
        stop(&beside[i]);
    }
}

static void test_file(void **state)
{
    (void)state;
    struct rl_settings s = quick();
    char path[] = "/tmp/rl_save_XXXXXX";
    struct rig a;
    struct rl_bytes saved, read;
    struct rl_agent *loaded;

    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    start(&a, &s, 2);
    play(&a, 100);
    assert_int_equal(rl_agent_save(a.agent, &saved), 0);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(saved.data, 1, saved.size, f), saved.size);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(rl_bytes_read(&read, path), 0);
    assert_int_equal(read.size, saved.size);
    assert_memory_equal(read.data, saved.data, saved.size);
    assert_int_equal(rl_agent_load(&loaded, read.data, read.size), 0);
    assert_int_equal(rl_agent_counts(loaded).decisions, 100);
    rl_agent_free(loaded);
    rl_bytes_release(&read);
    assert_int_equal(rl_bytes_read(&read, "/nowhere/at/all"), RL_E_IO);
    rl_bytes_release(&saved);
    unlink(path);
    stop(&a);
}

static void refuse(const unsigned char *data, size_t size, int expected)
{
    unsigned char *copy = malloc(size ? size : 1); /* exact, so that a sanitizer sees an overrun */
    struct rl_agent *a;

    memcpy(copy, data, size);
    int code = rl_agent_load(&a, copy, size);
    assert_int_equal(code, expected);
    assert_null(a);
    free(copy);
}

static void test_damage(void **state)
{
    (void)state;
    struct rl_settings s = quick();
    struct rig a;
    struct rl_bytes saved;
    start(&a, &s, 2);
    play(&a, 60);
    assert_int_equal(rl_agent_save(a.agent, &saved), 0);
    unsigned char *data = saved.data;

    for (size_t size = 0; size < saved.size; size += size < 100 ? 1 : 997)
        refuse(data, size, RL_E_FORMAT);
    data[12] ^= 2; /* version */
    refuse(data, saved.size, RL_E_VERSION);
    data[12] ^= 2;
    for (size_t at = 40; at < saved.size; at += 463) {
        data[at] ^= 0x40;
        refuse(data, saved.size, RL_E_FORMAT);
        data[at] ^= 0x40;
    }
    rl_bytes_release(&saved);
    stop(&a);
}

static uint64_t fnv(const unsigned char *data, size_t size)
{
    uint64_t h = 0xcbf29ce484222325u;

    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * 0x100000001b3u;
    return h;
}

/* As above but with a right checksum, as one who means harm would: refused or sound, never a crash
 * or an overrun. */
static void test_forged(void **state)
{
    (void)state;
    struct rl_settings s = quick();
    struct rig a;
    struct rl_bytes saved;
    struct rl_rng rng;
    int taken = 0, refused = 0;
    start(&a, &s, 2);
    play(&a, 60);
    assert_int_equal(rl_agent_save(a.agent, &saved), 0);
    unsigned char *data = saved.data, *body = data + 40;
    rl_rng_seed(&rng, 4, 0);
    for (int round = 0; round < 1500; round++) {
        uint32_t span = round % 2 ? 300 : (uint32_t)(saved.size - 40);
        uint32_t at = rl_rng_below(&rng, span), bit = 1u << rl_rng_below(&rng, 8);
        body[at] ^= (unsigned char)bit;
        uint64_t sum = fnv(body, saved.size - 40);
        memcpy(data + 32, &sum, sizeof sum);
        struct rl_agent *loaded;
        int code = rl_agent_load(&loaded, data, saved.size);
        if (!code) {
            struct rl_update u;
            float zero[4] = {0}, q[2];
            rl_agent_q(loaded, zero, &(uint64_t){3}, q);
            (void)!rl_agent_train(loaded, 1, &u);
            taken++;
        } else {
            assert_true(code == RL_E_FORMAT || code == RL_E_MEMORY);
            refused++;
        }
        rl_agent_free(loaded);
        body[at] ^= (unsigned char)bit;
    }
    print_message("%d forged learners taken, %d refused\n", taken, refused);
    assert_true(taken > 0 && refused > 0);
    rl_bytes_release(&saved);
    stop(&a);
}

/* No legal action, one that the game does not have, a context that it does not have: refused in the
 * middle of an episode, and the run is as before. */
static void test_forged_position(void **state)
{
    (void)state;
    struct rl_settings s = quick();
    struct rig a;
    enum { BODY = 40, PLAYING = BODY + 8, LEGAL = PLAYING + 1 + sizeof a.run.rng.s + 16 };
    static const struct {
        int at;
        unsigned char byte;
        int code;
    } forged[] = {{LEGAL, 0, RL_E_FORMAT},     {LEGAL, 4, RL_E_FORMAT}, {LEGAL + 7, 1, RL_E_FORMAT},
                  {LEGAL + 8, 1, RL_E_FORMAT}, {LEGAL, 1, RL_OK},       {PLAYING, 0, RL_OK}};
    start(&a, &s, 2);
    play(&a, 60);
    struct rl_bytes saved = state_of(&a);
    unsigned char *data = saved.data;
    struct rl_agent *own = a.agent;
    assert_true(a.run.playing && data[LEGAL] == 3 && data[LEGAL + 8] == 0);
    for (size_t n = 0; n < sizeof forged / sizeof *forged; n++) {
        unsigned char *byte = &data[forged[n].at], was = *byte;
        *byte = forged[n].byte;
        uint64_t sum = fnv(data + BODY, saved.size - BODY);
        memcpy(data + 32, &sum, sizeof sum);
        assert_int_equal(rl_run_load(&a.run, data, saved.size), forged[n].code);
        *byte = was;
        if (forged[n].code) {
            struct rl_bytes now = state_of(&a);
            assert_ptr_equal(a.run.agent, own);
            assert_memory_equal((unsigned char *)now.data + BODY, data + BODY, saved.size - BODY);
            rl_bytes_release(&now);
        } else {
            play(&a, 50);
            rl_agent_free(a.run.agent);
            a.run.agent = own;
        }
    }
    rl_bytes_release(&saved);
    stop(&a);
}

static void test_wrong_game(void **state)
{
    (void)state;
    struct rl_settings s = quick();
    struct rig a;
    struct rl_acrobot memory;
    struct rl_env env;
    struct rl_run other;
    start(&a, &s, 2);
    play(&a, 60);
    struct rl_bytes saved = state_of(&a);
    rl_acrobot_begin(&memory, 0, &env);
    struct rl_shape shape = {env.observation_size, env.action_count, 0};
    struct rl_agent *agent;
    assert_int_equal(rl_agent_new(&agent, &shape, &s, 1), 0);
    assert_int_equal(rl_run_init(&other, &env, a.agent, 1), RL_E_SHAPE);
    assert_int_equal(rl_run_init(&other, &env, agent, 1), 0);
    int code = rl_run_load(&other, saved.data, saved.size);
    assert_true(code == RL_E_SHAPE || code == RL_E_FORMAT);
    assert_ptr_equal(other.agent, agent);
    rl_run_release(&other);
    rl_agent_free(agent);
    rl_bytes_release(&saved);
    stop(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exploration_is_saved),
        cmocka_unit_test(test_same_seed_same_bits),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_looking_changes_nothing),
        cmocka_unit_test(test_two_threads),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_forged),
        cmocka_unit_test(test_forged_position),
        cmocka_unit_test(test_wrong_game),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
