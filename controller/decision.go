package controller

import "time"

// Decision is one scaling decision, with what it was made from.
type Decision struct {
	At time.Time `json:"at"`
	// From and To are numbers of pollers.
	From int `json:"from"`
	To   int `json:"to"`
	// Reason is for people, with figures.
	Reason  string  `json:"reason"`
	Reading Reading `json:"reading"`
}

// Reading is what a decision was made from.
type Reading struct {
	// Lag is in records, over the partitions that this process reads; nil if it was unknown.
	Lag *int64 `json:"lag"`
	// ArrivingPerSecond and SettledPerSecond are records, over the mapping.
	ArrivingPerSecond float64 `json:"arrivingPerSecond"`
	SettledPerSecond  float64 `json:"settledPerSecond"`
	// PerPoller is how many records one fully used poller settles in a second; nil before it could be measured.
	PerPoller *float64 `json:"perPoller"`
	// Use is the share of the pollers' invocation slots or byte budgets in use, whichever is larger: 0 to 1.
	Use float64 `json:"use"`
	// Throttled says that a poller waited for its byte budget.
	Throttled bool `json:"throttled"`
}
