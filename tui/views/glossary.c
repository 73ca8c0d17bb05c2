#include "tui/views/glossary.h"

#include "hlo/support/mem.h"

#include <ctype.h>
#include <string.h>

const struct glossary_word glossary[] = {
    {"strict", "every value is split in one way only, so a plan needs no resharding"},
    {"relaxed", "a value may be split in several ways; moving between two costs a reshard"},
    {"linkage groups", "dims of variables that can only be split together; a row is one decision"},
    {"Linkage groups", "dims of variables that can only be split together; a row is one decision"},
    {"alone", "change of the step if only this is split, of everything whole"},
    {"in best", "change of the best plan's step with this one decision the other way, the rest as "
                "far as it can stay"},
    {"reduces", "all-reduces of a step that splitting it alone makes"},
    {"dims", "of variables, in the class or classes it decides"},
    {"baseline", "the step with everything whole but the pins"},
    {"optimum", "the shortest step within reach of this search, proven by the exact solver"},
    {"proven", "the exact solver has shown that nothing in reach is better"},
    {"bound", "no plan of this kind can be shorter than that"},
    {"over bound", "how far the plan is from what no plan of this kind can beat"},
    {"margin", "the distance between the two Q: how sure the learner is"},
    {"visits", "how often the learner has taken that answer here"},
    {"masked", "not legal here: what is decided already forbids it"},
    {"whole", "not split: every device has all of it"},
    {"stage 2", "decisions of the best plan are set back in turn and learned again"},
    {"stage 1", "decisions from nothing, episode by episode"},
    {"wave", "everything that followed from one decision, tie by tie"},
    {"last wave", "everything that followed from the last decision, tie by tie"},
    {"elsewhere", "plans that this search does not hold: of another space, or already known"},
    {"best flip", "the one decision whose turning would gain most, the rest staying"},
    {"flip", "one decision the other way round, the rest staying"},
    {"reshard", "moving a value from one split to another: an all-gather, all-to-all or slice"},
    {"L", "the length of the pipeline: the step of all micro-batches through all stages"},
    {"C A W", "of each stage the computing, the activations sent on, the weights' all-reduce"},
    {"eager", "a schedule that runs a pass as soon as its input is there"},
    {"ZeRO", "optimizer state (1), gradients (2), variables (3) spread over the replicas"},
    {"micro-batches", "parts of the batch that go through one after the other"},
    {"data × tensor", "replicas of the stage, and the devices each is split over"},
    {"once a step, ms", "what a stage does once, not for every micro-batch: gradients and update"},
    {"ε", "the share of decisions taken by lot"},
    {"epsilon", "the share of decisions taken by lot"},
    {"Q", "what the network thinks the rest of the episode is worth with that answer"},
    {"DQN", "a network that learns the worth of each answer, and takes the best"},
    {"Huber", "a loss that is squared for small errors and linear for large ones"},
    {"priority", "how likely a stored decision is drawn: by how wrong Q was about it"},
    {"weight", "what undoes that some rows are drawn more often"},
    {"importance", "what undoes that some rows are drawn more often"},
    {"double", "one network chooses the next action, the other values it"},
    {"dueling", "Q as the worth of the state and what each action adds"},
    {"n-step", "how many rewards are summed before a value stands in for the rest"},
    {"target net", "the copy that values what follows, renewed now and then"},
    {"target", "what Q should have been: the reward and the value of what follows"},
    {"update", "a step of the learner's gradient, or of the optimizer in the model"},
    {"episode", "one plan, decision by decision, until everything is settled"},
    {"cost reward", "ln(step before / step after): over an episode the whole gain"},
    {"contiguous", "each device has a part of the graph in order, so batches flow one way"},
    {"ideals",
     "sets of operators with all that comes before them: what the exact placement counts"},
    {"stream", "many batches in flight: the busiest device sets the pace"},
    {"latency", "one batch alone, from its first operator to its last"},
    {"straggler", "a device that is slower than the others"},
    {NULL, NULL},
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Whether the text holds the word, with no letter beside it. */
static bool holds(const char *text, const char *word)
{
    size_t size = strlen(word);

    for (const char *at = text; (at = strstr(at, word)); at++) {
        bool left = at == text || !is_word(at[-1]) || !is_word(word[0]);
        if (left && (!is_word(at[size]) || !is_word(word[size - 1])))
            return true;
    }
    return false;
}

static int add_words(const char *text, int *out, int count, int room)
{
    for (int n = 0; glossary[n].word && count < room; n++) {
        bool known = false;
        for (int k = 0; k < count; k++)
            known |= !strcmp(glossary[out[k]].meaning, glossary[n].meaning);
        if (!known && holds(text, glossary[n].word))
            out[count++] = n;
    }
    return count;
}

int glossary_on(const struct grid *g, int first, int *out, int room)
{
    struct str all = {0};
    int count = 0, row = 0;

    grid_text(g, &all);
    for (char *line = all.text; line && *line && first >= 0; row++) {
        char *end = strchr(line, '\n');
        if (end)
            *end = 0;
        if (row == first)
            count = add_words(line, out, count, room);
        if (end)
            *end = '\n';
        line = end ? end + 1 : NULL;
    }
    if (all.text)
        count = add_words(all.text, out, count, room);
    str_release(&all);
    return count;
}
