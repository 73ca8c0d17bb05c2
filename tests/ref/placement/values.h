/* What is known of the published instances.
 *
 * contiguous: the optimum over contiguous plans, to 6 digits, by the published solver where it ends
 * and by an independent prototype everywhere (both proven). ideals: counted by both. expert, tails,
 * one: values of the published expert splits, of the PipeDream-like rule and of everything on one
 * accelerator. any: the best plan of any sets known from annealing and integer programs. */
#ifndef AUTOMAP_TESTS_REF_PLACEMENT_VALUES_H
#define AUTOMAP_TESTS_REF_PLACEMENT_VALUES_H

#include <stdint.h>

static const struct published {
    const char *file; /* below throughput-inputs/ */
    const char *expert_file;
    uint32_t nodes, edges, positions, ideals;
    double contiguous, expert, tails, any;
} published[] = {
    {"layergraphs/bert24_inference", "bert24_inference_expert", 32, 55, 28, 30, 17.7899, 20.084,
     17.7899, 17.7147},
    {"layergraphs/bert24_training", "bert24_training_expert", 64, 110, 28, 30, 41.7458, 49.4049,
     187.914, 39.7895},
    {"layergraphs/gnmt_inference", "gnmt_inference_expert", 96, 122, 78, 17914, 32.9107, 46.2085,
     33.0311, 31.7033},
    {"layergraphs/gnmt_training", "gnmt_training_expert", 192, 244, 78, 17914, 107.004, 137.154,
     294.905, 88.6514},
    {"layergraphs/resnet50_inference", "resnet50_inference_expert", 177, 193, 177, 242, 33.7747,
     43.9183, 39.3981, 33.6690},
    {"layergraphs/resnet50_training", "resnet50_inference_expert", 354, 386, 177, 242, 78.6318,
     112.108, 83.6744, 77.3841},
    {"layergraphs/inceptionv3_inference", "inceptionv3_inference_expert", 326, 363, 326, 36596,
     51.5519, 102.482, 60.417, 51.5519},
    {"layergraphs/inceptionv3_training", "inceptionv3_inference_expert", 652, 726, 326, 36596,
     122.762, 213.654, 128.317, 118.260},
    {"operatorgraphs/bert_l-3_inference", 0, 235, 250, 128, 1428, 27.9186, 0, 37.4557, 21.9084},
    {"operatorgraphs/bert_l-3_training", 0, 600, 817, 138, 2774, 65.3031, 0, 122.987, 54.2075},
    {"operatorgraphs/bert_l-6_inference", 0, 418, 448, 227, 1923, 29.5795, 0, 65.5647, 28.3322},
    {"operatorgraphs/bert_l-6_training", 0, 1071, 1462, 243, 3776, 72.865, 0, 192.917, 72.4717},
    {"operatorgraphs/bert_l-12_inference", 0, 783, 843, 424, 2906, 147.478, 0, 642.78, 142.540},
    {"operatorgraphs/bert_l-12_training", 0, 2012, 2751, 451, 2938, 437.998, 0, 43510, 418.324},
    {"operatorgraphs/resnet50_inference", 0, 604, 619, 176, 241, 124.349, 0, 129.155, 124.349},
    {"operatorgraphs/resnet50_training", 0, 1243, 1806, 193, 258, 255.194, 0, 684.891, 255.194},
};
enum { PUBLISHED = sizeof published / sizeof *published };

#endif
