package demo

import (
	"encoding/json"
	"fmt"
)

// order is what the demo's records hold.
type order struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Amount   int64  `json:"amount"` // in cents
	// Poison is set on the record that no function can take.
	Poison bool `json:"poison,omitempty"`
}

// customers is how many keys there are.
const customers = 1000

func newOrder(i int, poison bool) order {
	return order{
		ID:       fmt.Sprintf("o-%08d", i),
		Customer: fmt.Sprintf("c-%03d", i*7919%customers),
		Amount:   int64(i*6131%9999 + 1),
		Poison:   poison,
	}
}

func (o order) encode() []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(fmt.Sprintf("demo: an order is no JSON: %v", err)) // it always is
	}
	return text
}
