package metric

// ErrorKindsMax bounds the kinds that one ErrorCounter tells apart; errors of further kinds are counted as OtherKind.
// Sluice itself has about ten kinds of invocation errors; Kafka's protocol has some 130 error codes, of which a healthy
// cluster shows a handful.
const ErrorKindsMax = 32

// OtherKind is the kind of errors beyond ErrorKindsMax, and of those that name none.
const OtherKind = "Other"

// ErrorCounter counts errors by kind. The zero value is ready. CloudWatch emits error metrics only when an error
// occurs; so does it: a kind that was never seen has no series.
type ErrorCounter struct{ named }

// Inc counts one error. The kind is a word of a small closed set, never a message.
func (c *ErrorCounter) Inc(kind string) {
	if kind == "" {
		kind = OtherKind
	}
	c.add(kind, 1, ErrorKindsMax, OtherKind)
}

// ByKind returns a copy of the counts.
func (c *ErrorCounter) ByKind() map[string]int64 { return c.byName() }
