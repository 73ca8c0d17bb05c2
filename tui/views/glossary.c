#include "tui/views/glossary.h"

#include "hlo/support/mem.h"
#include "tui/screen/utf8.h"

#include <ctype.h>
#include <string.h>

/* '#' stands for a number. */
const struct glossary_word glossary[] = {
    {"strict", "every value is split in one way only, so a plan needs no resharding"},
    {"relaxed", "a value may be split in several ways; moving between two costs a reshard"},
    {"linkage groups", "dims of variables that can only be split together; a row is one decision"},
    {"alone", "change of the step if only this is split, of everything whole"},
    {"in best", "change of the best plan's step with this one decision the other way, the rest as "
                "far as it can stay"},
    {"base", "split in the baseline: nothing but what is pinned"},
    {"in base", "change of the baseline's step with this one decision the other way"},
    {"pinned", "decided by you: the search keeps it so"},
    {"turned",
     "change of the best step there can be with this one decision the other way, the rest "
     "decided anew; dim where that is not proven, - where it can not be or takes long"},
    {"settles", "decisions that fall when this one is split, itself among them"},
    {"reduces", "all-reduces of a step that splitting it alone makes"},
    {"dims", "of variables, in the class or classes it decides"},
    {"baseline", "the step with everything whole but the pins"},
    {"optimum", "the shortest step within reach of this search, proven by the exact solver"},
    {"exact", "what the plan of the exact solver does here"},
    {"proven", "the exact solver has shown that nothing in reach is better"},
    {"bound", "no plan of this kind can be shorter than that"},
    {"over bound", "how far the plan is from what no plan of this kind can beat"},
    {"margin", "the distance between the two Q: how sure the learner is"},
    {"visits", "how often the learner has taken that answer here"},
    {"masked", "not legal here: what is decided already forbids it"},
    {"whole", "not split: every device has all of it"},
    {"stage 2: decisions",
     "the search sets decisions of the best plan back, in turn, and learns again"},
    {"stage 2 sets", "the search sets decisions of the best plan back, in turn, and learns again"},
    {"wave", "everything that followed from one decision, tie by tie"},
    {"last wave", "everything that followed from the last decision, tie by tie"},
    {"elsewhere", "plans that this search does not hold: of another space, or already known"},
    {"best flip", "of all decisions, each turned by itself, the one whose turning gains most"},
    {"flip", "one decision the other way round, the rest staying"},
    {"reshard", "moving a value from one split to another: an all-gather, all-to-all or slice"},
    {"L", "the length of the pipeline: the step of all micro-batches through all stages"},
    {"C A W", "of each stage the computing, the activations sent on, the weights' all-reduce"},
    {"C  A  W", "of each stage the computing, the activations sent on, the weights' all-reduce"},
    {"eager", "a schedule that runs a pass as soon as its input is there"},
    {"ZeRO", "optimizer state (1), gradients (2), variables (3) spread over the replicas"},
    {"replicas", "copies of a model or a stage, each with its part of the batch"},
    {"placement", "which device each operator runs on"},
    {"actions", "what the player may choose between at each decision"},
    {"preset", "the learner's settings that this game is taught with"},
    {"micro-batches", "parts of the batch that go through one after the other"},
    {"data × tensor", "replicas of the stage, and the devices each is split over"},
    {"once a step, ms", "what a stage does once, not for every micro-batch: gradients and update"},
    {"ε", "the share of decisions taken by lot"},
    {"epsilon", "the share of decisions taken by lot"},
    {"Q", "what the network thinks the rest of the episode is worth with that answer"},
    {"DQN", "a network that learns the worth of each answer, and takes the best"},
    {"dqn", "a network that learns the worth of each answer, and takes the best"},
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
    {"episode", "from the start to the end, decision by decision: one plan, or one game"},
    {"cost reward", "ln(step before / step after): over an episode the whole gain"},
    {"contiguous", "each device has a part of the graph in order, so batches flow one way"},
    {"ideals",
     "sets of operators with all that comes before them: what the exact placement counts"},
    {"stream", "many batches in flight: the busiest device sets the pace"},
    {"latency", "one batch alone, from its first operator to its last"},
    {"straggler", "a device that is slower than the others"},
    {"all-reduce", "devices add up what each has of a value, and all have the sum"},
    {"reduce", "the time of the all-reduces that follow from it"},
    {"all-reduces", "devices add up what each has of a value, and all have the sum"},
    {"collectives", "messages that all devices take part in: all-reduces, all-gathers and others"},
    {"all-gather", "each device gets the parts of all others, and has the whole value"},
    {"reduce-scatter", "devices add up what each has of a value, and each keeps a part of the sum"},
    {"all-to-all", "a value split along one dim is split along another"},
    {"1f1b", "a schedule: one pass forward, one backward, in turn, so that few are kept"},
    {"gpipe", "a schedule: all passes forward, then all backward"},
    {"simulated", "the step as the schedule plays it, pass by pass, with its waits"},
    {"over optimum", "how much longer the step is than the proven shortest"},
    {"batch", "the samples of one step"},
    {"in flight",
     "micro-batches that are forward but not yet backward: their activations are kept"},
    {"busy", "the share of the step in which a device works"},
    {"recompute", "keep less of the forward pass, and compute it again going backward"},
    {"micro-batch", "a part of the batch that goes through by itself"},
    {"over best", "how much longer the step is than that of the best row"},
    {"over row 1", "how much longer the step is than that of the first row"},
    {"peak", "where in the step a device holds most"},
    {"moments", "what the optimizer keeps of the gradients before: m and v of Adam"},
    {"annealing", "random changes of a plan, worse ones taken more and more rarely"},
    {"enumeration", "every plan in turn, cheapest first, those that can not be better left out"},
    {"greedy", "the answer that is best at once, decision by decision"},
    {"ties", "uses that carry a split from one dim to the next"},
    {"class", "all dims of all values that are tied to each other: split or whole together"},
    {"classes", "all dims of all values that are tied to each other: split or whole together"},
    {"roles", "what a row of stages splits: the batch, a width, heads, a vocabulary"},
    {"contracting", "the dim is summed over in a product: split, it leaves a sum to be made"},
    {"lhs", "the dim is one of the left operand's own in a product"},
    {"rhs", "the dim is one of the right operand's own in a product"},
    {"memory-limit", "what a device may hold at most; plans above do not count"},
    {"discount", "how much less a reward is worth for each decision it is away"},
    {"folding", "repeated layers are decided alike, as one decision"},
    {"propagation", "what a decision settles by itself, tie by tie"},
    {"anew", "everything else is decided again, as the exact solver does it best"},
    {"from scratch", "the network begins with random weights, not with those of a training before"},
    {"reward", "what a decision earns: in the search ln(step before / step after) or the paper's, "
               "in a game what its rules give"},
    {"loss", "how far Q was from what it should have been, over the decisions drawn"},
    {"replay", "the memory of decisions the network learns from, drawn again and again"},
    {"backtrack", "one decision of the best plan is opened again, and learned anew from there"},
    {"pin", "an answer that you give, and that the search keeps"},
    {"pins", "answers that you give, and that the search keeps"},
    {"mesh", "the devices as a grid: a value may be split along each of its axes"},
    {"axis", "one direction of the mesh: a split uses all devices along it"},
    {"axes", "directions of the mesh: a split uses all devices along one"},
    {"gradients", "how the loss changes with each variable: as large as the variables"},
    {"activations", "values of the forward pass that the backward pass needs, kept until then"},
    {"optimizer", "what makes changes of the variables from gradients: Adam or another"},
    {"optimizer state", "what the optimizer keeps beside each variable from step to step"},
    {"conflicts", "classes that can not be split together: one value would need both"},
    {"tied through", "the uses that make dims one class, the shortest way from each variable"},
    {"radius", "how many uses away from the centre are drawn"},
    {"stage", "one part of a pipeline: some layers on some devices"},
    {"stages", "parts of a pipeline: some layers on some devices each"},
    {"cut", "where one stage of a pipeline ends and the next begins"},
    {"cuts", "where one stage of a pipeline ends and the next begins"},
    {"tensor parallel", "one operation split over devices, which then exchange parts"},
    {"interleaved", "a device holds several stages, so that it waits less"},
    {"prefix sums", "of everything up to there: a stage is the difference of two"},
    {"NVLink", "NVIDIA's link between the devices of a server"},
    {"ICI", "the link between TPUs, each to its neighbours of a torus"},
    {"launch", "what starting an operation takes, however small it is"},
    {"link latency", "what sending takes before the first byte arrives"},
    {"HLO", "the language of XLA, in which the model was written to the file"},
    {"SPMD", "one program for all devices, each with its part of the values"},
    {"full propagation", "what follows from a decision is settled at once"},
    {"memory, GB", "of one device, where in the step it is largest"},
    {"memory, MB", "of one device, where in the step it is largest"},
    {"idle", "the part of the step in which a device waits"},
    {"room", "what a device could take on without being the slowest"},
    {"fused", "computed in one pass without writing what lies between"},
    {"decided", "an answer was given, by the learner or by you, or followed from one"},
    {"constraint", "what the program asks of the partitioner: this value split so"},
    {"instr", "instructions of the file: one operation on whole arrays each"},
    {"forward", "from the inputs to the loss"},
    {"backward", "from the loss back: the gradients of everything"},
    {"phase", "forward, backward or update: each part of the step is in one"},
    {"XLA", "the compiler of JAX and TensorFlow: it takes the plan and splits the program so"},
    {"sharding", "how an array is split over the devices, as XLA and JAX write it"},
    {"opp", "operators are split (the paper's name)"},
    {"adp", "the batch is split: data parallel (the paper's name)"},
    {"seed", "what all lots are drawn from: the same seed gives the same run"},
    {"pretrained", "the network begins with weights of a training on other problems"},
    {"module", "a part of the model by its name in the program; or the whole file"},
    {"fold", "repeated layers are shown as one"},
    {"pipeline", "stages one behind the other, through which parts of the batch go in turn"},
    {"episodes", "plans or games, one after the other, each decision by decision"},
    {"lanes", "operations in order, a line down for each value that is still used"},
    {"vars", "variables: what is trained"},
    {"variables", "what is trained"},
    {"simulation", "the schedule played pass by pass, with its waits"},
    {"dp", "data parallel: so many replicas of a stage, each with its part of the batch"},
    {"tp", "tensor parallel: so many devices that every operation of a stage is split over"},
    {"closed form",
     "cuts worked out at once from what servers compute, then bettered in small steps"},
    {"alike", "in the same way: repeated layers decided as one, or all stages with the same mesh"},
    {"global", "the bound is one of all plans, not only of those that treat equal layers alike"},
    {"on # device", "the step if only so many devices take part: faster than with all of them"},
    {"on # devices", "the step if only so many devices take part: faster than with all of them"},
    {"/#!", "split into so many parts that it is not divisible by: the last is padded"},
    {"#/x", "split along axis x of the mesh, the first"},
    {"#/y", "split along axis y of the mesh, the second"},
    {"#/z", "split along axis z of the mesh, the third"},
    {"kinds", "the best plan of each other kind, in ms, and how much more than this one it takes"},
    {NULL, NULL},
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_same(char a, char b, bool any_case)
{
    return a == b || (any_case && tolower((unsigned char)a) == tolower((unsigned char)b));
}

/* The bytes of the word where it stands there with no letter beside it, else 0: as it is, or at the
 * head of a title or a sentence; a letter by itself (Q, L) only as it is. */
static size_t stands_at(const char *text, size_t at, const char *word)
{
    bool one = !word[1];
    size_t end = at;

    if (word[0] != '#' && (text[at] | 0x20) != (word[0] | 0x20)) /* most do not even begin so */
        return 0;
    for (const char *w = word; *w; w++) {
        size_t digits = *w == '#' ? strspn(text + end, "0123456789") : 0;
        if (!digits && !is_same(text[end], *w, w == word && !one))
            return 0;
        end += digits ? digits : 1;
    }
    bool begins = at == 0 || !is_word(text[at - 1]) || !(is_word(word[0]) || word[0] == '#');
    return begins && (!is_word(text[end]) || !is_word(text[end - 1])) ? end - at : 0;
}

static bool holds_word(const char *text, const char *word)
{
    for (size_t at = 0; text[at]; at++) {
        if (stands_at(text, at, word))
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
        if (!known && holds_word(text, glossary[n].word))
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

/* ---- where they stand ---- */

/* A row of cells as text, and the column of every byte of it. */
struct row_text {
    char text[GRID_MOST * UTF8_ROOM];
    int column[GRID_MOST * UTF8_ROOM + 1];
};

static void take_row(const struct grid *g, int y, struct row_text *r)
{
    const struct cell *row = g->cells + (size_t)y * (size_t)g->width;
    size_t size = 0;

    for (int x = 0; x < g->width; x++) {
        if (!row[x].ch)
            continue; /* the right half of a wide sign */
        size_t more = utf8_put(r->text + size, row[x].ch);
        for (size_t i = 0; i < more; i++)
            r->column[size + i] = x;
        size += more;
    }
    r->text[size] = 0;
    r->column[size] = g->width;
}

/* The longest word of the glossary that begins here; -1: none. */
static int word_at(const char *text, size_t at, size_t *size)
{
    int found = -1;

    *size = 0;
    for (int n = 0; glossary[n].word; n++) {
        size_t length = stands_at(text, at, glossary[n].word);
        if (length > *size) {
            found = n;
            *size = length;
        }
    }
    return found;
}

int glossary_spots(const struct grid *g, struct glossary_spot *out, int room)
{
    struct row_text r;
    int count = 0;

    for (int y = 0; y < g->height; y++) {
        take_row(g, y, &r);
        for (size_t at = 0; r.text[at] && count < room;) {
            size_t size = 0;
            int word = word_at(r.text, at, &size);
            if (word >= 0)
                out[count++] = (struct glossary_spot){.x = r.column[at],
                                                      .y = y,
                                                      .width = r.column[at + size] - r.column[at],
                                                      .word = word};
            at += word >= 0 ? size : 1;
        }
    }
    return count;
}
