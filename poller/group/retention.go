package group

import (
	"time"

	"github.com/sluicehq/sluice/record"
)

// overtaken counts what retention, or somebody's DeleteRecords, has deleted before it was read: first is the record that
// came although next was to come, and start where the broker said that its log begins. A gap above the log's start is
// none of ours: compaction and aborted transactions leave such. The count is of offsets, among which may be some that
// held no record. The caller holds mu.
func (f *Feed) overtaken(tp record.TopicPartition, first, start record.Offset) {
	next, owned := f.set.Next(tp)
	if !owned || f.sought[tp] {
		delete(f.sought, tp)
		return
	}
	f.deleted(tp, next, min(first, start))
}

// deleted counts and logs that the offsets from one up to another were deleted before they were read.
func (f *Feed) deleted(tp record.TopicPartition, from, to record.Offset) {
	if to <= from {
		return
	}
	f.config.Metrics.LostToRetention.Add(tp.Topic, int64(to-from))
	f.config.Log.Error("records were deleted before they were read; going on at the oldest that is left",
		"topic", tp.Topic, "partition", tp.Partition, "from", int64(from), "to", int64(to-1), "lost", int64(to-from))
}

// skip moves a window on to where there may be records again. lost says that what lies between was deleted.
func (f *Feed) skip(tp record.TopicPartition, from, to record.Offset, lost bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.set.Skip(tp, from, to, time.Now()) && lost && !f.sought[tp] {
		f.deleted(tp, from, to)
	}
}
