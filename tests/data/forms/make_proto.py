"""Writes the other forms of two shipped models, by protobuf's own JSON printer and by the messages of TensorFlow
(pip install tensorflow-cpu): what a reader of examples/models/NAME.pb.gz has to find in each is the same module.

NAME.camel.json   lowerCamelCase keys, indented, enums by name (the default of protobuf)
NAME.snake.json   the keys of the .proto files, enums by number, one line
NAME.hlo.pb       HloProto: what --xla_dump_hlo_as_proto writes
NAME.snapshot.pb  HloSnapshot: what --xla_dump_hlo_snapshots writes, without arguments"""
import gzip
import os

from google.protobuf import json_format
from tensorflow.compiler.xla.service import hlo_pb2

HERE = os.path.dirname(os.path.abspath(__file__))


def write(name, data):
    with open(os.path.join(HERE, name + ".gz"), "wb") as f:
        f.write(gzip.compress(data if isinstance(data, bytes) else data.encode(), 9, mtime=0))


for name in "mlp", "decoder-scan":
    with gzip.open(os.path.join(HERE, "../../../examples/models", name + ".pb.gz")) as f:
        module = hlo_pb2.HloModuleProto.FromString(f.read())
    proto = hlo_pb2.HloProto(hlo_module=module)
    write(f"{name}.camel.json", json_format.MessageToJson(module))
    write(f"{name}.snake.json", json_format.MessageToJson(proto, preserving_proto_field_name=True, use_integers_for_enums=True, indent=None))
    write(f"{name}.hlo.pb", proto.SerializeToString(deterministic=True))
    write(f"{name}.snapshot.pb", hlo_pb2.HloSnapshot(hlo=proto, execution_platform="cpu").SerializeToString(deterministic=True))
