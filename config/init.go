package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"text/template"

	"github.com/sluicehq/sluice/mapping"
)

// InitOptions is what [Init] writes into a file to begin with. Empty fields get the values of the documentation's examples.
// The values stand for themselves: «${» in them is written as «$${».
type InitOptions struct {
	// Name is the mapping's name; the topic's where it is empty and the topic can be one.
	Name string
	// BootstrapServers are 1 to 10 addresses, host and port.
	BootstrapServers []string
	// Topics are the topics that are read.
	Topics []string
	// URL is the function's.
	URL string
	// DeadLetterTopic gets the records that are given up; empty is none.
	DeadLetterTopic string
	// CAFile holds the trusted authorities. It, or TLS, turns TLS on.
	CAFile string
	TLS    bool
	// Mechanism turns SASL on, with Username; the password is read from the environment variable SLUICE_KAFKA_PASSWORD.
	Mechanism Mechanism
	Username  string
}

// Init returns the text of a configuration file with comments, which [Load] takes. The error is [Errors] that say which of
// the options cannot be, by the place they have in the file.
func Init(o InitOptions) ([]byte, error) {
	if len(o.BootstrapServers) == 0 {
		o.BootstrapServers = []string{"localhost:9092"}
	}
	if len(o.Topics) == 0 {
		o.Topics = []string{"orders"}
	}
	if o.URL == "" {
		o.URL = "http://127.0.0.1:9000/"
	}
	if o.Name == "" {
		o.Name = "orders"
		if mapping.IsEntryName(o.Topics[0]) {
			o.Name = o.Topics[0]
		}
	}
	var b strings.Builder
	if err := initTemplate.Execute(&b, o); err != nil {
		return nil, err
	}
	text := []byte(b.String())
	l := newLoader(Options{
		LookupEnv: func(string) (string, bool) { return "set", true },         // whether it is set shows when it runs,
		ReadFile:  func(string) ([]byte, error) { return []byte("set"), nil }, // and so do files
	})
	l.trustFiles = true
	l.file("sluice.yaml", text)
	if _, err := l.finish(); err != nil {
		return nil, err
	}
	return text, nil
}

var initTemplate = template.Must(template.New("sluice.yaml").Funcs(template.FuncMap{"yaml": yamlText}).Parse(
	`# Sluice reads topics of a Kafka cluster and gives their records to a function in batches.
#
#   sluice validate -f sluice.yaml    shows every mistake at once
#   sluice run -f sluice.yaml         runs it; sluice status shows how it goes
#
# All keys: docs/CONFIGURATION.md, or «sluice schema» for your editor.

server:
  listen: 127.0.0.1:8440              # admin API, /metrics, /healthz, /readyz

clusters:
  main:
    bootstrapServers:{{range .BootstrapServers}}
      - {{yaml .}}{{end}}
{{- if .CAFile}}
    tls:
      caFile: {{yaml .CAFile}}        # relative to this file
{{- else if .TLS}}
    tls: {}                           # trusts the system's authorities
{{- else}}
    # tls: {}                         # TLS with the system's authorities; caFile, certFile, keyFile for others
{{- end}}
{{- if .Mechanism}}
    sasl:
      mechanism: {{yaml .Mechanism}}
      username: {{yaml .Username}}
      password: "${SLUICE_KAFKA_PASSWORD}"  # from the environment; ${file:PATH} reads a file
{{- else}}
    # sasl: {mechanism: SCRAM-SHA-512, username: svc, password: "${SLUICE_KAFKA_PASSWORD}"}
{{- end}}

functions:
  {{yaml .Name}}:
    url: {{yaml .URL}}                # each batch is a POST of the Kafka event of AWS Lambda, as JSON
    timeout: 30s                      # of one invocation

mappings:
  - name: {{yaml .Name}}              # names its consumer group too: sluice-NAME
    function: {{yaml .Name}}
    cluster: main
    topics:{{range .Topics}}
      - {{yaml .}}{{end}}
    startingPosition: TRIM_HORIZON    # where a new group begins: TRIM_HORIZON, LATEST or AT_TIMESTAMP
    batchSize: 100                    # at most so many records in an invocation
    # maximumBatchingWindowInSeconds: 0   # how long a batch may wait to fill up; half a second without it
    # functionResponseTypes: [ReportBatchItemFailures]   # the function names the records that failed
    bisectBatchOnFunctionError: true  # halves a failing batch to find the record at fault
{{- if .DeadLetterTopic}}
    maximumRetryAttempts: 5           # then the record goes to the dead-letter topic
    destinationConfig:
      onFailure:
        destination: {{yaml (print "kafka://" .DeadLetterTopic)}}
{{- else}}
    # A failing record is tried until it succeeds, and its partition waits. To give it up:
    # maximumRetryAttempts: 5
    # destinationConfig: {onFailure: {destination: "kafka://orders-dlq"}}
{{- end}}
    # provisionedPollerConfig: {minimumPollers: 1, maximumPollers: 10}   # 5 MB/s a poller instead of up to 5 with 1 MB/s
`))

// yamlText writes text as a YAML scalar: as it is where that is safe, else in JSON's quotes, which YAML reads too.
func yamlText(v any) string {
	text := strings.ReplaceAll(fmt.Sprint(v), "${", "$${")
	if plainText.MatchString(text) && !notText.MatchString(text) {
		return text
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(fmt.Sprintf("config: a text of %d bytes is no JSON: %v", len(text), err)) // a string always is
	}
	return string(quoted)
}

var (
	plainText = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9._/-]*$`)
	notText   = regexp.MustCompile(`^(?i:true|false|null|yes|no|on|off|y|n)$`)
)
