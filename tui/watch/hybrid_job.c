#include "tui/watch/hybrid_job.h"

#include "engine/decide/classes.h"
#include "engine/decide/labels.h"
#include "engine/decide/names.h"
#include "engine/hybrid/by_value.h"
#include "engine/hybrid/hybrid.h"
#include "engine/hybrid/hybrid_explain.h"
#include "engine/hybrid/hybrid_export.h"
#include "engine/hybrid/hybrid_file.h"
#include "engine/hybrid/hybrid_others.h"
#include "engine/hybrid/hybrid_picture.h"
#include "engine/hybrid/hybrid_pins.h"
#include "engine/hybrid/hybrid_why.h"
#include "engine/hybrid/pin_prices.h"
#include "engine/problem/problem.h"
#include "engine/text/units.h"
#include "hlo/support/clock.h"
#include "hlo/support/err.h"
#include "hlo/support/mem.h"
#include "hlo/support/thread.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { WISHES_WAITING = 16 };

/* What waits for the thread: a change, a question about a stage, an explanation. */
enum { ASK_STAGE = HYBRID_TAKE_FOUND + 1, ASK_WORDS };
struct wish {
    int kind;
    uint32_t stage;
    struct hybrid_other as;
    class_id class;  /* ASK_WORDS: about this one; CLASS_NONE: about the plan */
    uint32_t number; /* ASK_WORDS: of the explanation */
};

struct hybrid_job {
    const struct problem *problem;
    struct hybrid_asked asked;
    struct hybrid_wish wish[HYBRID_PINS_MOST]; /* words of asked.held */
    struct hybrid plan; /* the search's, then what a person made of it; under `working` */
    bool has_plan, is_file;
    double shown_at; /* clock_seconds of the last shot on the way */
    pthread_mutex_t working;

    struct hybrid_seen seen; /* these under the lock */
    struct hybrid_shot *shot;
    struct wish waiting[WISHES_WAITING];
    uint32_t wishes;
    char *words; /* of the explanation asked for last; NULL: not written yet */
    uint32_t asked_words;
    bool is_over, serving;
    pthread_mutex_t lock;
    pthread_cond_t news;

    struct hybrid frozen; /* of the plan as found, for prices: its options and figures alone */
    struct hybrid_stage *found; /* [stages] as found, each with labels of its own; under `working`;
                                   NULL: nothing was changed yet */
    pthread_t thread, beside;
    bool in_thread, has_thread, has_beside;
    atomic_bool stop;
    int users;
};

/* ---- shots ---- */

void hybrid_shot_release(struct hybrid_shot *s)
{
    if (!s || atomic_fetch_sub(&s->references, 1) > 1)
        return;
    hybrid_picture_release(&s->picture);
    free(s);
}

static int publish_plan(struct hybrid_job *j, const struct hybrid *h, struct err *e)
{
    struct hybrid_shot *s = mem_try(1, sizeof *s), *before;

    if (!s)
        return err_no_memory(e, "for the picture of a plan");
    atomic_init(&s->references, 1);
    if (hybrid_picture_new(h, &s->picture, e)) {
        free(s);
        return e->code;
    }
    pthread_mutex_lock(&j->lock);
    before = j->shot;
    j->shot = s;
    j->seen.version++;
    pthread_mutex_unlock(&j->lock);
    hybrid_shot_release(before);
    return 0;
}

/* On the way, some times a second; what cannot be shown for lack of memory is not. */
static void watch(const struct hybrid *h, void *context)
{
    enum { A_SECOND = 15 };
    struct hybrid_job *j = context;
    struct err e;
    double now = clock_seconds();

    if (!j->in_thread || !h->found || now - j->shown_at < 1.0 / A_SECOND)
        return;
    j->shown_at = now;
    if (publish_plan(j, h, &e))
        j->shown_at = now + 1;
}

struct hybrid_shot *hybrid_job_shot(struct hybrid_job *j)
{
    pthread_mutex_lock(&j->lock);
    struct hybrid_shot *s = j->shot;
    if (s)
        atomic_fetch_add(&s->references, 1);
    pthread_mutex_unlock(&j->lock);
    return s;
}

/* ---- beside the plan ---- */

static void compare_rivals(struct hybrid_job *j)
{
    struct hybrid_options o = j->frozen.options;
    struct hybrid_rival rival[HYBRID_RIVALS];
    struct hybrid_limit_price limit[HYBRID_LIMITS_MOST];
    double ms[HYBRID_PINS_MOST], all_ms = 0;
    uint32_t limits = 0;
    struct err e;

    o.watch = j->frozen.options.watch = NULL;
    if (j->asked.held_count && !hybrid_pin_prices(&j->frozen, ms, &all_ms, &e) &&
        !atomic_load(&j->stop)) {
        pthread_mutex_lock(&j->lock);
        memcpy(j->seen.price_ms, ms, j->asked.held_count * sizeof *ms);
        j->seen.all_ms = all_ms;
        j->seen.has_prices = true;
        pthread_mutex_unlock(&j->lock);
    }
    if (!j->is_file && !hybrid_limit_prices(&j->frozen, limit, &limits, &e) &&
        !atomic_load(&j->stop)) {
        pthread_mutex_lock(&j->lock);
        memcpy(j->seen.limit, limit, limits * sizeof *limit);
        j->seen.limits = limits;
        pthread_mutex_unlock(&j->lock);
    }
    if (!hybrid_rivals(j->problem, &o, rival, &e) && !atomic_load(&j->stop)) {
        pthread_mutex_lock(&j->lock);
        memcpy(j->seen.rival, rival, sizeof rival);
        j->seen.has_rivals = true;
        pthread_mutex_unlock(&j->lock);
    }
}

static void *run_beside(void *context)
{
    compare_rivals(context);
    return NULL;
}

/* ---- questions and changes ---- */

static int answer_stage(struct hybrid_job *j, uint32_t stage, struct err *e)
{
    struct hybrid_stage_answer a = {
        .stage = stage, .looked = true, .earlier_ms = NAN, .later_ms = NAN};
    struct hybrid *h = &j->plan;

    if (stage >= h->stages)
        return 0;
    if (h->stage[stage].end_device - h->stage[stage].device > 1 &&
        hybrid_others(h, stage, a.other, &a.others, &a.looked, e))
        return e->code;
    if (stage && (hybrid_moved_ms(h, stage, -1, &a.earlier_ms, e) ||
                  hybrid_moved_ms(h, stage, 1, &a.later_ms, e)))
        return e->code;
    pthread_mutex_lock(&j->lock);
    a.version = j->seen.version;
    j->seen.stage = a;
    pthread_mutex_unlock(&j->lock);
    return 0;
}

static void free_found(struct hybrid_job *j)
{
    for (uint32_t n = 0; j->found && n < j->plan.stages; n++)
        free(j->found[n].on);
    free(j->found);
    j->found = NULL;
}

/* Before the first change: what a change can touch of each stage. */
static int keep_found(struct hybrid_job *j, struct err *e)
{
    const struct hybrid *h = &j->plan;
    size_t size = h->problem->classes.count * sizeof(label);

    if (j->found)
        return 0;
    j->found = mem_try(h->stages, sizeof *j->found);
    for (uint32_t n = 0; j->found && n < h->stages; n++) {
        label *on = mem_try(size + 1, 1);
        if (!on) {
            free_found(j);
            break;
        }
        j->found[n] = h->stage[n];
        j->found[n].on = memcpy(on, h->stage[n].on, size);
    }
    return j->found ? 0 : err_no_memory(e, "for the plan as it was found");
}

static int take_found(struct hybrid_job *j, struct err *e)
{
    struct hybrid *h = &j->plan;

    for (uint32_t n = 0; j->found && n < h->stages; n++) {
        const struct hybrid_stage *was = &j->found[n];
        struct hybrid_stage *s = &h->stage[n];
        s->section = was->section;
        s->end_section = was->end_section;
        s->axes = was->axes;
        memcpy(s->size, was->size, sizeof s->size);
        s->point = was->point;
        memcpy(s->on, was->on, h->problem->classes.count * sizeof *s->on);
    }
    int rc = j->found ? hybrid_price(h, e) : 0;
    rc = rc || !j->found || !h->options.keeps_values ? rc : hybrid_by_value(h, e);
    if (rc || (j->found && publish_plan(j, h, e)))
        return e->code;
    pthread_mutex_lock(&j->lock);
    snprintf(j->seen.said, sizeof j->seen.said, "%s",
             j->seen.by_hand ? "the plan as it was found" : "nothing of it was changed");
    j->seen.by_hand = false;
    j->seen.changes++;
    pthread_mutex_unlock(&j->lock);
    return 0;
}

static void say_change(struct hybrid_job *j, double before, bool done, bool is_cut)
{
    char a[UNITS_ROOM], b[UNITS_ROOM];
    double step = hybrid_least_ms(&j->plan);

    pthread_mutex_lock(&j->lock);
    if (!done)
        snprintf(j->seen.said, sizeof j->seen.said, "%s",
                 is_cut ? "the cut cannot go further, or the plan would not fit"
                        : "the plan would not fit");
    else
        snprintf(j->seen.said, sizeof j->seen.said, "%s ms: %s; 0 is the found plan again",
                 units_change(a, step - before, 2), units_ms(b, step));
    j->seen.by_hand |= done;
    j->seen.changes++;
    pthread_mutex_unlock(&j->lock);
}

static int carry_out(struct hybrid_job *j, const struct wish *c, struct err *e)
{
    struct hybrid *h = &j->plan;
    double before = hybrid_least_ms(h);
    bool is_cut = c->kind != HYBRID_TAKE_OTHER, done = false;

    if (c->kind == HYBRID_TAKE_FOUND)
        return take_found(j, e);
    if (keep_found(j, e))
        return e->code;
    if (c->stage >= h->stages || (is_cut && !c->stage))
        return 0;
    int by = c->kind == HYBRID_CUT_EARLIER ? -1 : 1;
    int rc = is_cut ? hybrid_move_cut(h, c->stage, by, &done, e)
                    : hybrid_take_other(h, c->stage, &c->as, &done, e);
    rc = rc || !done || !h->options.keeps_values ? rc : hybrid_by_value(h, e);
    if (rc || (done && publish_plan(j, h, e)))
        return e->code;
    say_change(j, before, done, is_cut);
    return 0;
}

/* The plan, or how each stage splits a class, what the step would be otherwise, and what excludes
 * that. */
static int write_words(struct hybrid_job *j, class_id class, struct str *out, struct err *e)
{
    struct class_names names;
    char name[NAME_ROOM];

    if (class == CLASS_NONE)
        return hybrid_explain(&j->plan, out, e);
    int rc = class_names_new(&j->problem->classes, &j->problem->roles, &names, e);
    if (rc)
        return rc;
    rc = hybrid_explain_class(&j->plan, class, class_name(&names, class, name), out, e);
    class_names_release(&names);
    return rc;
}

/* Kept unless another explanation was asked for meanwhile. */
static int explain_stage(struct hybrid_job *j, const struct wish *w, struct err *e)
{
    struct str text = {0};

    if (write_words(j, w->class, &text, e) ||
        (text.failed && err_no_memory(e, "to explain a plan"))) {
        str_release(&text);
        return e->code;
    }
    pthread_mutex_lock(&j->lock);
    if (w->number == j->asked_words) {
        free(j->words);
        j->words = text.text;
        text.text = NULL;
        j->seen.words++;
    }
    pthread_mutex_unlock(&j->lock);
    str_release(&text);
    return 0;
}

static void serve(struct hybrid_job *j, const struct wish *w)
{
    struct err e = {0};

    pthread_mutex_lock(&j->working);
    int rc = w->kind == ASK_STAGE   ? answer_stage(j, w->stage, &e)
             : w->kind == ASK_WORDS ? explain_stage(j, w, &e)
                                    : carry_out(j, w, &e);
    pthread_mutex_unlock(&j->working);
    pthread_mutex_lock(&j->lock);
    if (rc) {
        snprintf(j->seen.said, sizeof j->seen.said, "%.150s", e.what);
        j->seen.changes++;
    }
    pthread_mutex_unlock(&j->lock);
}

/* Until it is stopped, or, without a thread, until nothing waits. */
static void serve_all(struct hybrid_job *j)
{
    pthread_mutex_lock(&j->lock);
    while (!atomic_load(&j->stop) && (j->wishes || j->in_thread)) {
        if (!j->wishes || !j->has_plan) {
            j->wishes = 0;
            pthread_cond_wait(&j->news, &j->lock);
            continue;
        }
        struct wish w = j->waiting[0];
        j->wishes--;
        j->serving = true;
        memmove(j->waiting, j->waiting + 1, j->wishes * sizeof *j->waiting);
        pthread_mutex_unlock(&j->lock);
        serve(j, &w);
        pthread_mutex_lock(&j->lock);
        j->serving = false;
    }
    pthread_mutex_unlock(&j->lock);
}

/* ---- the search ---- */

static void find_clash(struct hybrid_job *j, const struct hybrid_options *o)
{
    struct hybrid_options with = *o;
    uint32_t clash[HYBRID_PINS_MOST], count = 0;
    struct err e;

    with.watch = NULL;
    if (hybrid_pin_clash(j->problem, &with, clash, &count, &e))
        return;
    pthread_mutex_lock(&j->lock);
    memcpy(j->seen.clash, clash, count * sizeof *clash);
    j->seen.clashes = count;
    pthread_mutex_unlock(&j->lock);
}

static void search_hybrid(struct hybrid_job *j)
{
    struct hybrid_options o = j->asked.options;
    struct err e = {0};

    o.pins = j->wish;
    o.pin_count = j->asked.held_count;
    o.stop = &j->stop;
    o.watch = watch;
    o.context = j;
    int rc = hybrid_new(j->problem, &o, &j->plan, &e);
    pthread_mutex_lock(&j->working); /* whoever sees that there is a plan may read it */
    pthread_mutex_lock(&j->lock);
    j->plan.options.watch = NULL;
    j->frozen = j->plan;
    j->has_plan = rc == 0;
    pthread_mutex_unlock(&j->lock);
    pthread_mutex_unlock(&j->working);
    if (rc == ERR_INFEASIBLE && o.pin_count)
        find_clash(j, &o);
    if (j->has_plan)
        rc = publish_plan(j, &j->plan, &e);
    pthread_mutex_lock(&j->lock);
    if (rc)
        snprintf(j->seen.trouble, sizeof j->seen.trouble, "%.255s", e.what);
    j->seen.done = true;
    pthread_mutex_unlock(&j->lock);
}

static void *run_hybrid(void *context)
{
    struct hybrid_job *j = context;
    struct err e;

    if (!j->is_file)
        search_hybrid(j);
    if (j->has_plan && j->in_thread)
        j->has_beside = !thread_start(&j->beside, run_beside, j, "other kinds of plans", &e);
    else if (j->has_plan)
        compare_rivals(j);
    serve_all(j);
    if (j->has_beside)
        pthread_join(j->beside, NULL);
    pthread_mutex_lock(&j->lock);
    j->is_over = true;
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

static struct hybrid_job *new_job(const struct problem *p, struct err *e)
{
    struct hybrid_job *j = mem_try(1, sizeof *j);

    if (!j) {
        (void)err_no_memory(e, "for a hybrid plan");
        return NULL;
    }
    j->users = 1;
    j->problem = p;
    pthread_mutex_init(&j->lock, NULL);
    pthread_mutex_init(&j->working, NULL);
    pthread_cond_init(&j->news, NULL);
    return j;
}

int hybrid_job_start(struct hybrid_job *j, bool in_thread, struct err *e)
{
    if (j->has_thread || j->is_over)
        return 0;
    j->in_thread = in_thread;
    if (!in_thread) {
        run_hybrid(j);
        return 0;
    }
    int rc = thread_start(&j->thread, run_hybrid, j, "hybrid plans", e);
    j->has_thread = rc == 0;
    return rc;
}

int hybrid_job_new(const struct problem *p, const struct hybrid_asked *asked, bool in_thread,
                   struct hybrid_job **out, struct err *e)
{
    struct hybrid_job *j = new_job(p, e);

    if (!j)
        return e->code;
    j->asked = *asked;
    for (uint32_t n = 0; n < asked->held_count; n++)
        j->wish[n] = (struct hybrid_wish){asked->held[n].kind, j->asked.held[n].text};
    j->seen.limits = hybrid_limit_names(&asked->options, j->seen.limit);
    int rc = hybrid_job_start(j, in_thread, e);
    if (rc)
        hybrid_job_free(j);
    else
        *out = j;
    return rc;
}

int hybrid_job_of_file(const struct problem *p, const char *path, struct hybrid_job **out,
                       struct err *e)
{
    struct hybrid_job *j = new_job(p, e);
    int rc;

    if (!j)
        return e->code;
    j->is_file = true;
    rc = hybrid_file_load(p, path, &j->plan, e);
    if (rc)
        goto out;
    j->has_plan = true;
    j->plan.options.stop = &j->stop;
    j->asked.options = j->plan.options;
    j->seen.done = true;
    rc = publish_plan(j, &j->plan, e);
    j->frozen = j->plan;
out:
    if (rc)
        hybrid_job_free(j);
    else
        *out = j;
    return rc;
}

bool hybrid_job_is_file(const struct hybrid_job *j)
{
    return j->is_file;
}

struct hybrid_asked hybrid_job_question(const struct hybrid_job *j)
{
    return j->asked;
}

/* ---- the other side ---- */

void hybrid_job_stop(struct hybrid_job *j)
{
    pthread_mutex_lock(&j->lock);
    atomic_store(&j->stop, true);
    pthread_cond_broadcast(&j->news);
    pthread_mutex_unlock(&j->lock);
}

bool hybrid_job_is_over(struct hybrid_job *j)
{
    pthread_mutex_lock(&j->lock);
    bool over = j->is_over;
    pthread_mutex_unlock(&j->lock);
    return over;
}

struct hybrid_job *hybrid_job_share(struct hybrid_job *j)
{
    j->users++;
    return j;
}

void hybrid_job_free(struct hybrid_job *j)
{
    if (!j || --j->users > 0)
        return;
    hybrid_job_stop(j);
    if (j->has_thread)
        pthread_join(j->thread, NULL);
    free_found(j);
    if (j->has_plan)
        hybrid_release(&j->plan);
    hybrid_shot_release(j->shot);
    free(j->words);
    pthread_mutex_destroy(&j->lock);
    pthread_mutex_destroy(&j->working);
    pthread_cond_destroy(&j->news);
    free(j);
}

void hybrid_job_look(struct hybrid_job *j, struct hybrid_seen *out)
{
    pthread_mutex_lock(&j->lock);
    *out = j->seen;
    out->busy = !atomic_load(&j->stop) && (j->wishes || j->serving);
    pthread_mutex_unlock(&j->lock);
}

/* Of several questions about stages the last is kept. */
static void add_wish(struct hybrid_job *j, const struct wish *w)
{
    pthread_mutex_lock(&j->lock);
    bool again = w->kind == ASK_STAGE && j->wishes && j->waiting[j->wishes - 1].kind == ASK_STAGE;
    j->wishes -= again;
    if (j->wishes < WISHES_WAITING && (j->has_plan || j->in_thread))
        j->waiting[j->wishes++] = *w;
    pthread_cond_broadcast(&j->news);
    pthread_mutex_unlock(&j->lock);
    if (!j->in_thread)
        serve_all(j);
}

void hybrid_job_ask(struct hybrid_job *j, uint32_t stage)
{
    add_wish(j, &(struct wish){.kind = ASK_STAGE, .stage = stage});
}

void hybrid_job_change(struct hybrid_job *j, enum hybrid_change change, uint32_t stage,
                       const struct hybrid_other *as)
{
    struct wish w = {.kind = (int)change, .stage = stage};

    if (as)
        w.as = *as;
    add_wish(j, &w);
}

void hybrid_job_explain(struct hybrid_job *j, class_id class)
{
    pthread_mutex_lock(&j->lock);
    free(j->words);
    j->words = NULL;
    uint32_t number = ++j->asked_words;
    pthread_mutex_unlock(&j->lock);
    add_wish(j, &(struct wish){.kind = ASK_WORDS, .class = class, .number = number});
}

char *hybrid_job_words(struct hybrid_job *j)
{
    pthread_mutex_lock(&j->lock);
    size_t size = j->words ? strlen(j->words) + 1 : 0;
    char *copy = size ? mem_try(size, 1) : NULL;
    if (copy)
        memcpy(copy, j->words, size);
    pthread_mutex_unlock(&j->lock);
    return copy;
}

int hybrid_job_text(struct hybrid_job *j, struct str *out, struct err *e)
{
    pthread_mutex_lock(&j->working);
    int rc = j->has_plan ? hybrid_write(hybrid_form_by_name("json"), &j->plan, out, e)
                         : err_set(e, ERR_INPUT, "there is no plan yet");
    pthread_mutex_unlock(&j->working);
    return rc;
}
