package main

import (
	"context"
	"fmt"
	"time"
)

// counted polls the topic and does nothing with its records but count them.
func counted(ctx context.Context, c config) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	defer client.Close()
	var from, to time.Time
	for n := int64(0); n < c.records; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return err
		}
		n += int64(fetches.NumRecords())
		if now := time.Now(); n >= c.records/20 && from.IsZero() {
			from = now
		} else if n >= c.records/20*19 && to.IsZero() {
			to = now
		}
	}
	fmt.Printf("%.0f\n", float64(c.records)*0.9/to.Sub(from).Seconds())
	return client.LeaveGroupContext(ctx)
}
