#include "hlo/foreign.h"

#include <stdbool.h>
#include <string.h>

#define LOWER "python -c \"... print(jax.jit(step).lower(*args).as_text('hlo'))\""
#define DUMP "XLA_FLAGS=--xla_dump_to=DIR, and open DIR/*before_optimizations.txt"

enum { NAME_WITHIN = 40 };

/* Where `size` bytes stand, and then, if any, a word within the bytes that were read. */
struct foreign {
    size_t at, size;
    const char *bytes, *word;
    const char *what, *then;
};

static const struct foreign formats[] = {
    /* packed: the file itself is inside */
    {0, 4, "\x28\xb5\x2f\xfd", NULL, "packed by zstd", "zstd -d FILE"},
    {0, 6,
     "\xfd"
     "7zXZ\0",
     NULL, "packed by xz", "xz -dk FILE"},
    {0, 3, "BZh", NULL, "packed by bzip2", "bunzip2 -k FILE"},
    {0, 4, "\x04\x22\x4d\x18", NULL, "packed by lz4", "lz4 -d FILE"},
    {0, 6, "7z\xbc\xaf\x27\x1c", NULL, "a 7z archive", "7z x FILE"},
    {0, 4, "PK\3\4", "data.pkl", "a file of torch.save",
     "torch_xla: XLA_SAVE_TENSORS_FILE=step.hlo "
     "XLA_SAVE_TENSORS_FMT=hlo python train.py"},
    {0, 4, "PK\3\4", NULL, "a zip archive", "unzip FILE, and open the HLO inside"},
    {257, 5, "ustar", NULL, "a tar archive", "tar xf FILE, and open the HLO inside"},
    /* models and programs in other forms */
    {0, 3, "\x08\x01\x12", NULL, "a TensorFlow SavedModel",
     "python -c \"import tensorflow as tf; m = "
     "tf.saved_model.load('DIR'); print(tf.function(m.FUNCTION, jit_compile=True)"
     ".experimental_get_compiler_ir(*args)(stage='hlo'))\""},
    {0, 8, "\x89HDF\r\n\x1a\n", NULL, "an HDF5 file of weights", LOWER},
    {0, 6, "\x93NUMPY", NULL, "a NumPy array", LOWER},
    {0, 2, "\x80\x04", NULL, "a Python pickle", LOWER},
    {0, 2, "\x80\x05", NULL, "a Python pickle", LOWER},
    {0, 4,
     "\x7f"
     "ELF",
     NULL, "a compiled program", DUMP},
    {0, 8, "{ lambda", NULL, "a jaxpr, which has no shardings or layouts to plan with",
     "print(jax.jit(step).lower(*args).as_text('hlo')) where it was printed"},
    {0, 7, "{lambda", NULL, "a jaxpr, which has no shardings or layouts to plan with",
     "print(jax.jit(step).lower(*args).as_text('hlo')) where it was printed"},
    {0, 11, "; ModuleID ", NULL, "LLVM IR, which XLA made of the step", DUMP},
    {0, 15, "source_filename", NULL, "LLVM IR, which XLA made of the step", DUMP},
    {0, 2, "//", "NVPTX", "PTX, which XLA made of the step", DUMP},
    /* what stands beside HLO in a dump, and profiles */
    {0, 17, "BufferAssignment:", NULL, "XLA's buffer assignment",
     "the module beside it: ls ${FILE%-buffer-assignment.txt}.txt"},
    {0, 10, "allocation", "value: <", "XLA's buffer assignment",
     "the module beside it: ls ${FILE%-buffer-assignment.txt}.txt"},
    {0, 1, "{", "\"traceEvents\"", "a trace for Chrome or Perfetto, which has times and no program",
     DUMP},
    {0, 1, "{", "\"displayTimeUnit\"",
     "a trace for Chrome or Perfetto, which has times and no program", DUMP},
    {0, 1, "[", "\"ph\"", "a trace for Chrome or Perfetto, which has times and no program", DUMP},
    {0, 1, "\x0a", "/host:metadata", "a profile (xplane)", DUMP " on the run that was profiled"},
    {0, 1, "\x0a", "/host:CPU", "a profile (xplane)", DUMP " on the run that was profiled"},
    {0, 1, "\x0a", "/device:TPU:", "a profile (xplane)", DUMP " on the run that was profiled"},
    {0, 1, "\x0a", "/device:GPU:", "a profile (xplane)", DUMP " on the run that was profiled"},
};

static bool has_word(const char *data, size_t size, const char *word)
{
    size_t n = strlen(word);

    for (size_t k = 0; n && k + n <= size; k++) {
        if (data[k] == word[0] && !memcmp(data + k, word, n))
            return true;
    }
    return false;
}

/* ONNX: the version of its form, 3 to 15, then the name of who wrote it. */
static bool is_onnx(const char *data, size_t size)
{
    return size > 4 && data[0] == 8 && data[1] >= 3 && data[1] <= 15 && data[2] == 0x12 &&
           data[3] > 0 && data[3] < 64;
}

/* A profile's first plane is named at once; names of operations that come later say little. */
static size_t looked_at(const struct foreign *f, size_t size)
{
    return f->bytes[0] == '\x0a' && size > NAME_WITHIN ? NAME_WITHIN : size;
}

static bool is_of(const struct foreign *f, const char *data, size_t size)
{
    return size >= f->at + f->size && !memcmp(data + f->at, f->bytes, f->size) &&
           (!f->word || has_word(data, looked_at(f, size), f->word));
}

static int refuse_foreign(const char *what, const char *then, struct err *e)
{
    return err_set(e, ERR_INPUT, "this is %s, not HLO; to get there: %s", what, then);
}

int foreign_refuse(const char *data, size_t size, struct err *e)
{
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++) {
        if (is_of(&formats[k], data, size))
            return refuse_foreign(formats[k].what, formats[k].then, e);
    }
    if (is_onnx(data, size))
        return refuse_foreign("an ONNX model, which has no training step",
                              "lower the step in the framework it came from: " LOWER, e);
    return 0;
}
