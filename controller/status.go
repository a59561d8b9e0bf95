package controller

import (
	"errors"
	"time"
)

// ErrNotFound is what a question about a mapping or partition that is not there answers; errors wrap it.
var ErrNotFound = errors.New("not found")

// Status is the service at one moment: the answer of the admin API's /sluice/v1/status. Times are in UTC; names and
// shapes are those of the OpenAPI file in admin.
type Status struct {
	// Version is that of the binary.
	Version string `json:"version"`
	// StartedAt is when this process began.
	StartedAt time.Time `json:"startedAt"`
	// Mappings are in the order of their names.
	Mappings []MappingStatus `json:"mappings"`
}

// MappingStatus is one mapping at one moment.
type MappingStatus struct {
	// Name is unique; UUID identifies the mapping in AWS's API.
	Name string `json:"name"`
	UUID string `json:"uuid"`
	// State is one of AWS's states (Enabled, Creating, ...), StateReason says why, LastProcessingResult is AWS's
	// LastProcessingResult ("OK", "PROBLEM: ...").
	State                string `json:"state"`
	StateReason          string `json:"stateReason,omitempty"`
	LastProcessingResult string `json:"lastProcessingResult,omitempty"`

	// What is linked with what, and how.
	ConsumptionMode string   `json:"consumptionMode"`
	Function        string   `json:"function"`
	Cluster         string   `json:"cluster"`
	Topics          []string `json:"topics"`
	ConsumerGroupID string   `json:"consumerGroupId"`
	// GroupProtocol is how the group shares its partitions: classic or consumer; empty until it is chosen.
	GroupProtocol string `json:"groupProtocol,omitempty"`

	// Provisioned says that the mapping has a provisionedPollerConfig.
	Provisioned bool    `json:"provisioned"`
	Pollers     Pollers `json:"pollers"`
	// Lag is in records, over all partitions; nil while it is unknown.
	Lag *int64 `json:"lag"`
	// What was settled in the last seconds: records, and the bytes of their keys, values and headers.
	RecordsPerSecond float64 `json:"recordsPerSecond"`
	BytesPerSecond   float64 `json:"bytesPerSecond"`
	// InFlight is out with the function.
	InFlight InFlight `json:"inFlight"`
	// Buffered was fetched and is not settled; it includes what is in flight.
	Buffered Buffered `json:"buffered"`
	// Counts are since this process started the mapping.
	Counts Counts `json:"counts"`
	// Throttled says what holds the pollers back («throttled by pollerLimits: 5 MB/s»); empty if nothing does.
	Throttled string `json:"throttled,omitempty"`

	// Ready says that the mapping does its work; NotReadyReason names what is missing if not.
	Ready          bool   `json:"ready"`
	NotReadyReason string `json:"notReadyReason,omitempty"`

	// Partitions that this process owns, by topic and number.
	Partitions []PartitionStatus `json:"partitions"`
	// Decisions are the last scaling decisions, the newest first; the whole list is at /sluice/v1/decisions.
	Decisions []Decision `json:"decisions"`
}

// Pollers is how many pollers a mapping has, and between which bounds.
type Pollers struct {
	Now     int `json:"now"`
	Minimum int `json:"minimum"`
	Maximum int `json:"maximum"`
}

// InFlight is what is out with the function.
type InFlight struct {
	Records int64 `json:"records"`
	Batches int64 `json:"batches"`
}

// Buffered is what was fetched and is not settled.
type Buffered struct {
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
}

// Counts are numbers of records. Invoked, Failed and Retried count a record again on each attempt.
type Counts struct {
	Polled int64 `json:"polled"`
	// Settled is how many have their outcome: taken, dead-lettered or dropped.
	Settled      int64 `json:"settled"`
	FilteredOut  int64 `json:"filteredOut"`
	Invoked      int64 `json:"invoked"`
	Failed       int64 `json:"failed"`
	Retried      int64 `json:"retried"`
	DeadLettered int64 `json:"deadLettered"`
	Dropped      int64 `json:"dropped"`
	// LostToRetention counts offsets that the broker had deleted before they were read.
	LostToRetention int64 `json:"lostToRetention"`
	Committed       int64 `json:"committed"`
}

// PartitionState is what a partition is doing.
type PartitionState string

// The states of a partition.
const (
	// Idle: nothing to do. Left when records arrive.
	Idle PartitionState = "idle"
	// Flowing: records are fetched, handed out and settled.
	Flowing PartitionState = "flowing"
	// Waiting: the next records may not go out yet (backoff, a destination that is down, a full buffer). Left when
	// they may.
	Waiting PartitionState = "waiting"
	// Draining: the partition is being given back; nothing new goes out. Left by losing it.
	Draining PartitionState = "draining"
)

// PartitionStatus is one partition that this process owns.
type PartitionStatus struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Committed is the next offset to read after a restart, EndOffset the one that a committed record would get next,
	// Lag their difference; each is nil while it is unknown, or nothing is committed.
	Committed *int64 `json:"committed"`
	EndOffset *int64 `json:"endOffset"`
	Lag       *int64 `json:"lag"`

	// State is what the partition is doing.
	State PartitionState `json:"state"`
	// Stalled is set while the partition has lag and makes no progress.
	Stalled *Stall `json:"stalled,omitempty"`
}

// Stall is a partition without progress.
type Stall struct {
	// Since is when it last made progress.
	Since time.Time `json:"since"`
	// Seconds is how long ago that is.
	Seconds float64 `json:"seconds"`
	// Reason is for people: «waiting in backoff for orders-3@1500, attempt 7, 503».
	Reason string `json:"reason"`
}
