"""Reads what was sent to a collector with the official message definitions, strictly."""
import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def in_base64(value):
    """The messages have ids in base64, OTLP has them in hexadecimal; that is the only difference."""
    if isinstance(value, list):
        return [in_base64(element) for element in value]
    if not isinstance(value, dict):
        return value
    changed = {}
    for name, member in value.items():
        if name in IDS:
            raw = bytes.fromhex(member)
            assert len(raw) == IDS[name] and any(raw), (name, member)
            changed[name] = base64.b64encode(raw).decode()
        else:
            changed[name] = in_base64(member)
    return changed


spans = points = 0
for line in sys.stdin:
    sent = json.loads(line)
    if sent["path"] == "/v1/traces":
        message = json_format.ParseDict(in_base64(sent["body"]), ExportTraceServiceRequest())
        spans += sum(len(scope.spans) for resource in message.resource_spans for scope in resource.scope_spans)
    else:
        message = json_format.ParseDict(sent["body"], ExportMetricsServiceRequest())
        for resource in message.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.histogram.data_points:
                        assert len(point.bucket_counts) == len(point.explicit_bounds) + 1
                        assert sum(point.bucket_counts) == point.count
                        points += 1
print(json.dumps({"spans": spans, "points": points}))
