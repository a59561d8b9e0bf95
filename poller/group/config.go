package group

import (
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/filter"
	"github.com/sluicehq/sluice/inflight"
	"github.com/sluicehq/sluice/metric"
	"github.com/sluicehq/sluice/poller"
	"github.com/sluicehq/sluice/record"
)

// Position says where a partition starts that the group has no committed offset for.
type Position uint8

// The starting positions (AWS, StartingPosition).
const (
	TrimHorizon Position = iota // the oldest record there is
	Latest                      // behind the newest
	AtTimestamp                 // the first record not older than Config.StartAt
)

// Config is what a feed needs to know.
type Config struct {
	// Mapping names the event source mapping in logs.
	Mapping string
	// Group is the consumer group; Topics are its topics, or Regex the expression that their names match, anywhere.
	Group  record.GroupID
	Topics []string
	Regex  string

	// Start is where a partition without a committed offset begins; StartAt goes with AtTimestamp.
	Start   Position
	StartAt time.Time
	// OnRecreated says what becomes of a topic that was deleted and created anew. Recreated are the topics of which
	// that is known, with their old ids: what the feed before this one told.
	OnRecreated OnRecreated
	Recreated   map[string]string

	// Filter says which records are delivered; the others are settled as they come. nil delivers all.
	Filter *filter.Filter

	// Limits bound the batches, Sizes tell what records take in an event.
	Limits inflight.Limits
	Sizes  inflight.Sizes

	// Gate stands before the function: nothing is handed out that it does not let through.
	Gate *poller.Gate
	// FunctionTimeout bounds a lease's context, from the moment it is handed out: one context for each call does for
	// the time-out and for giving it up. 0 means that the function bounds its calls itself.
	FunctionTimeout time.Duration
	// DrainTimeout is how long calls may go on when their partition is revoked.
	DrainTimeout time.Duration
	// SessionTimeout is after how long without heartbeats the group gives the partitions of a dead process away;
	// 0 means the client's default of 45 s. With Consumer it is the brokers' to say.
	SessionTimeout time.Duration
	// CommitInterval is how often what was settled is committed; 0 means a second.
	CommitInterval time.Duration
	// BufferBytes bounds what is fetched and not settled, at least BufferBytesMin; 0 means BufferBytesDefault.
	BufferBytes int64

	// Choose says which group protocol to use; nil means Classic.
	Choose Chooser
	// Dial makes the Kafka client with the feed's options added to the cluster's.
	Dial    func(opts ...kgo.Opt) (*kgo.Client, error)
	Metrics *metric.Mapping
	Log     *slog.Logger
}

// BufferBytesDefault is the buffer of a feed that is not told otherwise. Four times as much was measured to cost 10 % more
// CPU a record, for memory that is never warm, and twice the resident size.
const BufferBytesDefault = 16 << 20

// BufferBytesMin is the least buffer that still makes fetches of a useful size.
const BufferBytesMin = 512 << 10

// The bounds of one fetch, of all brokers together and of a partition in it, in bytes of memory. Small partitions' shares
// keep what a pause throws away small. A small buffer gets small fetches: see FetchBytes.
const (
	fetchBytesMax          = 16 << 20
	fetchBytesMin          = 128 << 10
	fetchPartitionBytesMax = 1 << 20
	fetchWaitMax           = 4 * time.Second // a broker without records is asked again: 1 000 idle mappings live from that
	metadataAge            = 30 * time.Second
)

// internalTopics are those that Kafka keeps for itself.
const internalTopics = `^__(consumer_offsets|transaction_state|share_group_state|cluster_metadata)$`

// FetchBytes is what all brokers together are asked for at once, for a buffer of so many bytes: a quarter of it.
func FetchBytes(buffer int64) int64 { return min(max(buffer/4, fetchBytesMin), fetchBytesMax) }

func (c *Config) withDefaults() {
	if c.CommitInterval == 0 {
		c.CommitInterval = time.Second
	}
	if c.BufferBytes == 0 {
		c.BufferBytes = BufferBytesDefault
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = 25 * time.Second
	}
	if c.SessionTimeout == 0 {
		c.SessionTimeout = 45 * time.Second
	}
}

// options are the client options of the feed.
func (f *Feed) options(protocol Protocol) []kgo.Opt {
	c := &f.config
	fetch, partition := f.fetched.ask()
	opts := []kgo.Opt{
		kgo.WithContext(f.life),
		kgo.ConsumerGroup(string(c.Group)),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.DisableAutoCommit(),
		kgo.SessionTimeout(c.SessionTimeout),
		kgo.HeartbeatInterval(min(3*time.Second, c.SessionTimeout/3)),
		// The group waits for our drain before it goes on without us.
		kgo.RebalanceTimeout(c.DrainTimeout + 35*time.Second),
		kgo.OnPartitionsAssigned(f.assigned),
		kgo.OnPartitionsRevoked(f.revoked),
		kgo.OnPartitionsLost(f.lost),
		kgo.OnOffsetsFetched(f.offsetsFetched),
		kgo.AdjustFetchOffsetsFn(f.positions),
		// A position that retention has overtaken goes on at the oldest record, whatever the starting position.
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		// Control records move the commit point, else a transactional topic would show a lag of 1 for ever.
		kgo.KeepControlRecords(),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxBytes(fetch),
		kgo.FetchMaxPartitionBytes(partition),
		kgo.WithHooks(f.fetched),
		kgo.FetchMaxWait(fetchWaitMax),
		// New partitions, and new topics that an expression matches, are seen within this time.
		kgo.MetadataMaxAge(metadataAge),
	}
	if protocol == Consumer {
		opts = append(opts, kgo.ServerSideBalancer())
	}
	if c.Regex != "" {
		// With something excluded, the client matches names itself and tells the brokers those that it found. Else a
		// broker would match, Kafka's own topics too, and by another expression language than the documented one.
		return append(opts, kgo.ConsumeRegex(), kgo.ConsumeTopics(c.Regex), kgo.ConsumeExcludeTopics(internalTopics))
	}
	return append(opts, kgo.ConsumeTopics(c.Topics...))
}
