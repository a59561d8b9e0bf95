package kafka

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

// clientLog is the log of a client: its warnings and errors, without the chatter that is for its developers, and each
// trouble once in a while only. A client tries again many times a second, and says so each time.
type clientLog struct {
	slog.Handler
	said *said
}

// sayAgain is how long a trouble that goes on is not logged again.
const sayAgain = 10 * time.Second

// saidMax bounds the troubles that are remembered; beyond it, the memory begins anew.
const saidMax = 100

// said remembers when what was logged, over all loggers of one client.
type said struct {
	mu sync.Mutex
	at map[string]*saying
}

type saying struct {
	at      time.Time
	skipped int
}

func newClientLog(h slog.Handler) clientLog {
	return clientLog{h, &said{at: make(map[string]*saying)}}
}

// Enabled lets warnings and errors through.
func (q clientLog) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// expected begins what a client warns of and a feed means to do: start positions are committed before the client counts
// the group's session as begun. A member that was really thrown out says more than that.
const expected = "received an OffsetCommitResponse after our group session has ended"

// Handle drops what is expected, and what was said a short while ago, which it counts.
func (q clientLog) Handle(ctx context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, expected) {
		return nil
	}
	skipped, drop := q.said.again(key(r), r.Time)
	if drop {
		return nil
	}
	if skipped > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("not_logged", skipped))
	}
	return q.Handler.Handle(ctx, r)
}

// key is what makes two messages the same trouble: their words, with all that tells one broker or topic from another.
func key(r slog.Record) string {
	var b strings.Builder
	b.WriteString(r.Message)
	r.Attrs(func(a slog.Attr) bool {
		if a.Value.Kind() == slog.KindString || a.Value.Kind() == slog.KindAny {
			b.WriteString("\x00" + a.Key + "=" + a.Value.String())
		}
		return true
	})
	return b.String()
}

// again says whether this was said less than sayAgain ago, and if not, how often it was dropped since.
func (s *said) again(key string, now time.Time) (skipped int, drop bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.at[key]; last != nil {
		if now.Sub(last.at) < sayAgain {
			last.skipped++
			return 0, true
		}
		skipped = last.skipped
	}
	if len(s.at) >= saidMax {
		clear(s.at)
	}
	s.at[key] = &saying{at: now}
	return skipped, false
}

// WithAttrs keeps the memory.
func (q clientLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return clientLog{q.Handler.WithAttrs(attrs), q.said}
}

// WithGroup keeps the memory.
func (q clientLog) WithGroup(name string) slog.Handler {
	return clientLog{q.Handler.WithGroup(name), q.said}
}
