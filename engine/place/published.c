#include "engine/place/published.h"

#include <stddef.h>

const struct place_published place_published[] = {
    {UINT64_C(0x34298403d8288a30), "BERT-24 layers, inference", "layergraphs/bert24_inference",
     false, 17.7899, 0.006, 17.7147, 0, 0},
    {UINT64_C(0x0899e9473b83ef07), "BERT-24 layers, training", "layergraphs/bert24_training", false,
     41.7458, 0.008, 39.7895, 0, 0},
    {UINT64_C(0x7ec2e6464ff93d3f), "GNMT layers, inference", "layergraphs/gnmt_inference", false,
     32.9107, 14.8, 31.7033, 0, 0},
    {UINT64_C(0x8fbfc3d7c55da789), "GNMT layers, training", "layergraphs/gnmt_training", false,
     107.004, 25.7, 88.6514, 0, 0},
    {UINT64_C(0xc6f1a1eeaff684ef), "ResNet-50 layers, inference", "layergraphs/resnet50_inference",
     false, 33.7747, 0.12, 33.669, 0, 0},
    {UINT64_C(0xa528d7ece719a352), "ResNet-50 layers, training", "layergraphs/resnet50_training",
     false, 78.6318, 0.25, 77.3841, 0, 0},
    {UINT64_C(0xb7c8072a03849a12), "Inception-v3 layers, inference",
     "layergraphs/inceptionv3_inference", false, 51.5519, 0, 51.5519, 0, 0},
    {UINT64_C(0xac3285c48a3ff9cb), "Inception-v3 layers, training",
     "layergraphs/inceptionv3_training", false, 122.762, 0, 118.26, 0, 0},
    {UINT64_C(0xcc0482128f6faf92), "BERT-3 operators, inference",
     "operatorgraphs/bert_l-3_inference", false, 27.9186, 1.0, 21.9084, 0, 0},
    {UINT64_C(0xe4c43de8b18aa1f3), "BERT-3 operators, training", "operatorgraphs/bert_l-3_training",
     false, 65.3031, 5.5, 54.2075, 0, 0},
    {UINT64_C(0xecd7c4166746b5cc), "BERT-6 operators, inference",
     "operatorgraphs/bert_l-6_inference", false, 29.5795, 2.9, 28.3322, 0, 0},
    {UINT64_C(0x2f98da0c9c830483), "BERT-6 operators, training", "operatorgraphs/bert_l-6_training",
     false, 72.865, 18.6, 72.4717, 0, 0},
    {UINT64_C(0xd000c87707e94d14), "BERT-12 operators, inference",
     "operatorgraphs/bert_l-12_inference", false, 147.478, 13.8, 142.54, 0, 0},
    {UINT64_C(0x671134b994f528f3), "BERT-12 operators, training",
     "operatorgraphs/bert_l-12_training", false, 437.998, 27.7, 418.324, 0, 0},
    {UINT64_C(0xfeb865a628f6c333), "ResNet-50 operators, inference",
     "operatorgraphs/resnet50_inference", false, 124.349, 0.16, 124.349, 0, 0},
    {UINT64_C(0x66a4a41676d90a6d), "ResNet-50 operators, training",
     "operatorgraphs/resnet50_training", false, 255.194, 0.38, 255.194, 0, 0},
    {UINT64_C(0x89443c1e56174bbb), "BERT-24 layers, latency", "layergraphs/bert24_inference", true,
     0, 0, 0, 100.219, 108.031},
    {UINT64_C(0xe122465749d2bdcf), "GNMT layers, latency", "layergraphs/gnmt_inference", true, 0, 0,
     0, 268.5, 244.331},
    {UINT64_C(0x4e0637d442f0e45b), "ResNet-50 layers, latency", "layergraphs/resnet50_inference",
     true, 0, 0, 0, 4197.06, 1443.793},
    {UINT64_C(0x5683f16a84be406e), "Inception-v3 layers, latency",
     "layergraphs/inceptionv3_inference", true, 0, 0, 0, 2485.24, 0},
    {UINT64_C(0x39a05f86380b879d), "BERT-3 operators, latency", "operatorgraphs/bert_l-3_inference",
     true, 0, 0, 0, 416.204, 414.441},
    {UINT64_C(0xfae88c6d25cbcb5b), "BERT-6 operators, latency", "operatorgraphs/bert_l-6_inference",
     true, 0, 0, 0, 494.135, 444.02},
    {UINT64_C(0x1375c57406d92fae), "BERT-12 operators, latency",
     "operatorgraphs/bert_l-12_inference", true, 0, 0, 0, 867.839, 1327.031},
    {UINT64_C(0xddfd1fc176d12a6e), "ResNet-50 operators, latency",
     "operatorgraphs/resnet50_inference", true, 0, 0, 0, 839.536, 1123.653},
    {0},
};

const struct place_published *place_published_find(uint64_t fingerprint)
{
    for (const struct place_published *p = place_published; p->name; p++) {
        if (p->fingerprint == fingerprint)
            return p;
    }
    return NULL;
}

const int64_t *place_published_inputs(uint64_t fingerprint)
{
    static const struct {
        uint64_t fingerprint;
        int64_t id[8]; /* ends with 0 */
    } graph[] = {
        {UINT64_C(0x34298403d8288a30), {4}},
        {UINT64_C(0x0899e9473b83ef07), {4, 36}},
        {UINT64_C(0x7ec2e6464ff93d3f), {2, 40, 46}},
        {UINT64_C(0x8fbfc3d7c55da789), {2, 98, 40, 136, 46, 142}},
    };

    for (size_t i = 0; i < sizeof graph / sizeof *graph; i++) {
        if (graph[i].fingerprint == fingerprint)
            return graph[i].id;
    }
    return NULL;
}
