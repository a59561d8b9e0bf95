package invoke

import (
	"unsafe"

	"github.com/sluicehq/sluice/record"
)

// setLogAppendTime sets bit 3 of the record's attributes (Kafka, record batch format: timestampType). kgo keeps the
// attributes byte in an unexported field and fills it from fetch responses only.
func setLogAppendTime(r *record.Record) {
	*(*uint8)(unsafe.Pointer(&r.Attrs)) |= 1 << 3
}
