#include "engine/ranks/ranks.h"

#include "hlo/support/err.h"
#include "hlo/support/stop.h"

#include <stdlib.h>
#include <string.h>

#ifdef AUTOMAP_MPI
#include "hlo/support/mem.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#endif

/* How many processes mpirun started, as Open MPI, and MPICH and its kin, tell them. */
static long started(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        const char *text = getenv(names[n]);
        if (text)
            return strtol(text, NULL, 10);
    }
    return 0;
}

static bool do_alone(const struct ranks *r, uint32_t count, ranks_work *work, void *self,
                     struct ranks_result *out)
{
    for (uint32_t n = 0; n < count; n++) {
        if (stop_asked(r->stop) || !work(self, n, &out[n]))
            return false;
    }
    return true;
}

void ranks_release(struct ranks_result *results, uint32_t count)
{
    for (uint32_t n = 0; n < count; n++)
        free(results[n].data);
    memset(results, 0, count * sizeof *results);
}

#ifndef AUTOMAP_MPI

int ranks_join(struct ranks *r, const atomic_bool *stop, struct err *e)
{
    *r = (struct ranks){.count = 1, .stop = stop};
    if (started() > 1)
        return err_set(e, ERR_USAGE,
                       "mpirun started %ld processes, but this automap was built without MPI "
                       "(cmake -DAUTOMAP_MPI=ON)",
                       started());
    return 0;
}

void ranks_leave(struct ranks *r, bool whole, int code)
{
    (void)r, (void)whole, (void)code;
}

bool ranks_share(struct ranks *r, void *data, size_t size)
{
    (void)data, (void)size;
    return !stop_asked(r->stop);
}

bool ranks_do(struct ranks *r, uint32_t count, ranks_work *work, void *self,
              struct ranks_result *out)
{
    return do_alone(r, count, work, self, out);
}

#else

enum {
    TAG_ENOUGH = 1,  /* this rank draws no more of this job's items */
    TAG_GIVES_UP,    /* this rank does not go on */
    TAG_RESULT,      /* and those behind it: an item each */
    SPINS = 64,      /* looks before the first nap */
    NAP_MOST = 1000, /* us */
    PATIENCE = 10,   /* s that a rank waits for rank 0 to end the job */
};

struct ranks_job {
    MPI_Win window;
    int64_t *counter; /* rank 0's: items drawn by all */
    void *block;      /* what travels: MPI may use it after a wait that ended early */
    size_t room;
};

static uint64_t draw(const struct ranks *r)
{
    int64_t one = 1, drawn;

    MPI_Fetch_and_op(&one, &drawn, MPI_INT64_T, 0, 0, MPI_SUM, r->job->window);
    MPI_Win_flush(0, r->job->window);
    return (uint64_t)drawn;
}

/* ---- waiting ---- */

/* Longer from look to look, so that a rank that waits leaves its core to others. */
static void nap_after(uint32_t looks)
{
    long us = looks < SPINS ? 0 : (long)(looks - SPINS + 1) * 10;
    struct timespec t = {.tv_nsec = (us < NAP_MOST ? us : NAP_MOST) * 1000};

    if (us)
        nanosleep(&t, NULL);
}

static bool wait_for(const struct ranks *r, MPI_Request *request)
{
    for (uint32_t looks = 0;; looks++) {
        int done;
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return true;
        if (stop_asked(r->stop))
            return false;
        nap_after(looks);
    }
}

/* The job's block, with a copy of the data; NULL: no memory. */
static void *copy_to_block(struct ranks_job *j, const void *data, size_t size)
{
    if (size > j->room) {
        void *block = realloc(j->block, size);
        if (!block)
            return NULL;
        j->block = block;
        j->room = size;
    }
    if (size)
        memcpy(j->block, data, size);
    return j->block;
}

static bool send_to_first(const struct ranks *r, const void *data, size_t size, int tag)
{
    MPI_Request request;
    void *block = copy_to_block(r->job, data, size);

    if (size && !block)
        return false;
    MPI_Isend(block, (int)size, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
    return wait_for(r, &request);
}

/* ---- joining and leaving ---- */

static void open_counter(struct ranks *r)
{
    struct ranks_job *j = r->job;
    MPI_Aint size = r->self ? 0 : (MPI_Aint)sizeof *j->counter;

    MPI_Win_allocate(size, sizeof *j->counter, MPI_INFO_NULL, MPI_COMM_WORLD, &j->counter,
                     &j->window);
    if (!r->self) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, j->window);
        *j->counter = r->count; /* the first items are drawn: one each */
        MPI_Win_unlock(0, j->window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, j->window);
}

int ranks_join(struct ranks *r, const atomic_bool *stop, struct err *e)
{
    int self, count;

    *r = (struct ranks){.count = 1, .stop = stop};
    if (started() < 1)
        return 0;
    r->job = mem_try(1, sizeof *r->job);
    if (!r->job)
        return err_no_memory(e, "for the ranks");
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    r->self = (uint32_t)self;
    r->count = (uint32_t)count;
    open_counter(r);
    r->ahead[0] = r->self;
    r->ahead_count = 1;
    return 0;
}

/* Tells rank 0, which ends the job, this process too. */
static void give_up(void)
{
    MPI_Request request;
    time_t until = time(NULL) + PATIENCE;
    int done;

    MPI_Isend(NULL, 0, MPI_BYTE, 0, TAG_GIVES_UP, MPI_COMM_WORLD, &request);
    for (uint32_t looks = 0; time(NULL) < until; looks++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        nap_after(looks);
    }
}

void ranks_leave(struct ranks *r, bool whole, int code)
{
    if (!r->job)
        return;
    if (whole) {
        MPI_Request
            request; /* the last of rank 0 is waited for asleep, as MPI_Finalize would not */
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        (void)wait_for(r, &request);
        MPI_Win_unlock_all(r->job->window);
        MPI_Win_free(&r->job->window);
        MPI_Finalize();
        free(r->job->block);
        free(r->job);
    } else if (r->self) {
        give_up();
    } else {
        fflush(NULL);
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    r->job = NULL; /* not whole: MPI may still read and write the block, so it is never freed */
}

/* ---- working ---- */

static bool prepare_one(struct ranks *r)
{
    if (!r->prepare || r->ahead_count == RANKS_AHEAD_MOST)
        return false;
    r->ahead[r->ahead_count++] = draw(r);
    if (!r->prepare(r->prepare_self, r->ahead[r->ahead_count - 1]))
        r->prepare = NULL;
    return true;
}

static bool wait_preparing(struct ranks *r, MPI_Request *request)
{
    while (!stop_asked(r->stop)) {
        int done;
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done || !prepare_one(r))
            return done || wait_for(r, request);
    }
    return false;
}

bool ranks_share(struct ranks *r, void *data, size_t size)
{
    MPI_Request request;

    if (!r->job)
        return !stop_asked(r->stop);
    void *block = copy_to_block(r->job, data, size);
    if (size && !block)
        return false;
    MPI_Ibcast(block, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    if (!wait_preparing(r, &request))
        return false;
    if (size)
        memcpy(data, block, size);
    return true;
}

static bool hand_over(const struct ranks *r, uint32_t count, const struct ranks_result *out)
{
    for (uint32_t n = 0; n < count; n++) {
        if (out[n].data && !send_to_first(r, out[n].data, out[n].size, TAG_RESULT + (int)n))
            return false;
    }
    return send_to_first(r, NULL, 0, TAG_ENOUGH);
}

/* A message that has arrived. */
static bool take_result(const MPI_Status *s, uint32_t count, struct ranks_result *out)
{
    int size = 0;
    uint32_t item = (uint32_t)(s->MPI_TAG - TAG_RESULT);
    struct ranks_result *to = item < count ? &out[item] : NULL;

    MPI_Get_count(s, MPI_BYTE, &size);
    if ((to && to->data) || (!to && size))
        return false;
    if (to) {
        to->data = malloc((size_t)size + 1);
        to->size = (size_t)size;
        if (!to->data)
            return false;
    }
    MPI_Recv(to ? to->data : NULL, size, MPI_BYTE, s->MPI_SOURCE, s->MPI_TAG, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    return s->MPI_TAG != TAG_GIVES_UP;
}

static bool gather(const struct ranks *r, uint32_t count, struct ranks_result *out)
{
    uint32_t working = r->count - 1, looks = 0;

    while (working) {
        int there;
        MPI_Status s;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &s);
        if (stop_asked(r->stop) || (there && !take_result(&s, count, out)))
            return false;
        working -= there && s.MPI_TAG == TAG_ENOUGH;
        looks = there ? 0 : looks + 1;
        nap_after(looks);
    }
    return true;
}

/* The next item of this call; false: there is none, and what was drawn is of a call to come. */
static bool next_item(struct ranks *r, uint32_t count, uint32_t *item)
{
    if (!r->ahead_count)
        r->ahead[r->ahead_count++] = draw(r);
    if (r->ahead[0] >= r->done + count)
        return false;
    *item = (uint32_t)(r->ahead[0] - r->done);
    memmove(r->ahead, r->ahead + 1, --r->ahead_count * sizeof *r->ahead);
    return true;
}

bool ranks_do(struct ranks *r, uint32_t count, ranks_work *work, void *self,
              struct ranks_result *out)
{
    uint32_t item;
    bool ok;

    if (!r->job) {
        ok = do_alone(r, count, work, self, out);
    } else {
        while (next_item(r, count, &item)) {
            if (stop_asked(r->stop) || !work(self, item, &out[item]))
                return false;
        }
        ok = r->self ? hand_over(r, count, out) : gather(r, count, out);
    }
    r->done += count;
    return ok;
}

#endif
