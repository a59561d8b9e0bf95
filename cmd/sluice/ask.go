package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// ask fills in what no flag has said, with a line of the terminal for each; an empty line takes the default.
func (o *initOptions) ask(cmd *cobra.Command) error {
	q := questions{in: bufio.NewReader(cmd.InOrStdin()), out: cmd.ErrOrStderr()}
	if len(o.BootstrapServers) == 0 {
		o.BootstrapServers = list(q.text("Kafka brokers, host:port by comma", "localhost:9092"))
	}
	if len(o.Topics) == 0 {
		o.Topics = list(q.text("Topics to read, by comma, or ~regex", "orders"))
	}
	if o.URL == "" {
		o.URL = q.text("URL of the function", "http://127.0.0.1:9000/")
	}
	if o.DeadLetterTopic == "" {
		o.DeadLetterTopic = q.text("Topic for records that are given up, empty for none", "")
	}
	if !o.TLS && o.CAFile == "" && o.mechanism == "" {
		o.askSecurity(&q)
	}
	return q.err
}

func (o *initOptions) askSecurity(q *questions) {
	switch q.text("TLS to Kafka: no, yes, or the file of its authorities", "no") {
	case "no", "n":
	case "yes", "y":
		o.TLS = true
	default:
		o.CAFile = q.last
	}
	o.mechanism = strings.ToUpper(q.choice("SASL: none, "+strings.Join(mechanisms, ", "), "none", mechanisms))
	if o.mechanism == "NONE" {
		o.mechanism = ""
		return
	}
	for o.Username == "" && q.err == nil {
		o.Username = q.text("SASL user (the password comes from $SLUICE_KAFKA_PASSWORD)", "")
	}
}

// questions asks on a terminal.
type questions struct {
	in   *bufio.Reader
	out  io.Writer
	last string // answer
	err  error  // the first; nothing is asked afterwards
}

func (q *questions) text(question, otherwise string) string {
	if q.err != nil {
		return ""
	}
	if otherwise != "" {
		question += " [" + otherwise + "]"
	}
	fmt.Fprintf(q.out, "%s: ", question)
	line, err := q.in.ReadString('\n')
	if err != nil {
		q.err = errors.New("no answer; nothing was written")
		return ""
	}
	if q.last = strings.TrimSpace(line); q.last == "" {
		q.last = otherwise
	}
	return q.last
}

// choice asks until the answer is one of those allowed, or the default.
func (q *questions) choice(question, otherwise string, allowed []string) string {
	for {
		answer := q.text(question, otherwise)
		if q.err != nil || strings.EqualFold(answer, otherwise) {
			return otherwise
		}
		for _, a := range allowed {
			if strings.EqualFold(a, answer) {
				return a
			}
		}
	}
}

// list takes an answer apart by commas. An expression is one topic: it may hold commas.
func list(answer string) []string {
	if strings.HasPrefix(answer, "~") {
		return []string{answer}
	}
	return strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || r == ' ' })
}
