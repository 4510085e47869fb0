"""What TensorBoard shows, as its own protocol buffers: figures, pictures, words, graphs and hyper-parameters.

TensorBoard's modules alone are imported, never torch or TensorFlow: `torch.utils.tensorboard` writes as it goes, from a
thread of its own, and so cannot say that a file became whole.
"""

from __future__ import annotations

import io
import struct
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto.event_pb2 import Event, SourceMetadata, TaggedRunMetadata
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.types_pb2 import DT_FLOAT, DT_STRING
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
from tensorboard.plugins.hparams import api_pb2
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo, SessionStartInfo
from tensorboard.summary.writer.record_writer import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def scalar(tag: str, value: float, step: int, wall_time: float) -> Event:
    """One point of a curve; `wall_time` is in seconds since 1970."""
    return _summary(wall_time, step, tag=tag, simple_value=value)


def picture(tag: str, png: bytes, step: int, wall_time: float) -> Event:
    """A PNG, shown as it is."""
    # A PNG's width and height are the first fields of its header chunk, which begins at byte 16.
    width, height = struct.unpack(">II", png[16:24])
    image = Summary.Image(width=width, height=height, encoded_image_string=png)
    return _summary(wall_time, step, tag=tag, image=image)


def text(tag: str, markdown: str, step: int, wall_time: float) -> Event:
    """Words, which TensorBoard reads as Markdown."""
    # Replaced, not refused: a test's name may hold half a surrogate pair, and no UTF-8 does.
    tensor = TensorProto(dtype=DT_STRING, string_val=[markdown.encode("utf-8", "replace")])
    return _summary(wall_time, step, tag=tag, tensor=tensor, metadata=_metadata("text"))


def graph(definition: Any, metadata: Any, tag: str, wall_time: float) -> list[Event]:
    """A graph (GraphDef), and what its nodes cost (RunMetadata), which is offered under the name `tag`."""
    costs = TaggedRunMetadata(tag=tag, run_metadata=metadata.SerializeToString())
    return [
        Event(wall_time=wall_time, graph_def=definition.SerializeToString()),
        Event(wall_time=wall_time, tagged_run_metadata=costs),
    ]


def hyperparameters(values: Mapping[str, str | float], name: str, begun: float, ended: float) -> list[Event]:
    """One session of the HParams view, whose metrics are the scalars of the same run folder; times since 1970.

    No experiment is declared: TensorBoard takes its columns from all sessions that it finds, those of later runs too.
    """
    start = SessionStartInfo(group_name=name, start_time_secs=begun)
    for key, value in values.items():
        if isinstance(value, str):
            start.hparams[key].string_value = value
        else:
            start.hparams[key].number_value = value
    end = SessionEndInfo(status=api_pb2.STATUS_SUCCESS, end_time_secs=ended)
    return [
        _hparams("_hparams_/session_start_info", HParamsPluginData(session_start_info=start), begun),
        _hparams("_hparams_/session_end_info", HParamsPluginData(session_end_info=end), begun),
    ]


def file_content(events: Iterable[Event], wall_time: float) -> bytes:
    """The events as one whole event file."""
    content = io.BytesIO()
    writer = RecordWriter(content)
    source = SourceMetadata(writer="pytest_opcost")
    writer.write(Event(wall_time=wall_time, file_version="brain.Event:2", source_metadata=source).SerializeToString())
    for event in events:
        writer.write(event.SerializeToString())
    return content.getvalue()


def damage(content: bytes, *, thorough: bool) -> str:
    """What is wrong with an event file, empty where nothing is: its records' lengths and checksums.

    The content of records is only looked at where `thorough`.
    """
    at = 0
    while at < len(content):
        header = content[at : at + 12]
        if len(header) < 12:
            return f"it ends within a record, at byte {at:,}"
        length, checksum = struct.unpack("<QI", header)
        if masked_crc32c(header[:8]) != checksum:
            return f"the record at byte {at:,} has a wrong checksum"
        end = at + 12 + length
        if end + 4 > len(content):
            return f"it ends within a record, at byte {at:,}"
        data, checksum = content[at + 12 : end], struct.unpack("<I", content[end : end + 4])[0]
        if thorough and masked_crc32c(data) != checksum:
            return f"the record at byte {at:,} has a wrong checksum"
        at = end + 4
    return "" if content else "it is empty"


def _summary(wall_time: float, step: int, **value: Any) -> Event:
    return Event(wall_time=wall_time, step=step, summary=Summary(value=[Summary.Value(**value)]))


def _metadata(plugin: str, content: bytes = b"") -> SummaryMetadata:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=content))


def _hparams(tag: str, data: Any, wall_time: float) -> Event:
    # The data is in the metadata; a summary must still have a value, and this is the shortest.
    nothing = TensorProto(dtype=DT_FLOAT, tensor_shape=TensorShapeProto(dim=[TensorShapeProto.Dim(size=0)]))
    return _summary(wall_time, 0, tag=tag, tensor=nothing, metadata=_metadata("hparams", data.SerializeToString()))
