package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluicehq/sluice/config"
)

// initOptions are the flags of init. What they leave open is asked for on a terminal.
type initOptions struct {
	file  string
	force bool
	yes   bool
	config.InitOptions
	mechanism string
}

func newInit() *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a configuration to begin with",
		Long: "Write a configuration with comments. On a terminal it asks for what the flags leave open; elsewhere the\n" +
			"defaults are taken. A file that is there is not overwritten without --force.",
		Example: "  sluice init\n" +
			"  sluice init --bootstrap-servers localhost:9092 --topic orders --url http://127.0.0.1:9000/ --dead-letter-topic orders-dlq\n" +
			"  sluice init -f conf.d/orders.yaml --topic orders --topic returns --sasl SCRAM-SHA-512 --user svc --tls-ca ca.pem",
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "file", "f", "sluice.yaml", "the file to write")
	f.BoolVar(&o.force, "force", false, "overwrite the file")
	f.BoolVarP(&o.yes, "yes", "y", false, "do not ask; take the defaults")
	f.StringSliceVar(&o.BootstrapServers, "bootstrap-servers", nil, "brokers to begin with, host:port (default localhost:9092)")
	f.StringArrayVar(&o.Topics, "topic", nil, "a topic to read, or ~regex; may be given again (default orders)")
	f.StringVar(&o.Name, "name", "", "the mapping's name (default the topic's)")
	f.StringVar(&o.URL, "url", "", "the function's URL (default http://127.0.0.1:9000/)")
	f.StringVar(&o.DeadLetterTopic, "dead-letter-topic", "", "where records go that are given up (default: none are)")
	f.BoolVar(&o.TLS, "tls", false, "TLS with the system's authorities")
	f.StringVar(&o.CAFile, "tls-ca", "", "TLS with the authorities of this file")
	f.StringVar(&o.mechanism, "sasl", "", "SASL: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512; the password comes from $SLUICE_KAFKA_PASSWORD")
	f.StringVar(&o.Username, "user", "", "the SASL user")
	complete(cmd, "sasl", mechanisms...)
	return cmd
}

var mechanisms = []string{string(config.Plain), string(config.ScramSHA256), string(config.ScramSHA512)}

func (o *initOptions) run(cmd *cobra.Command) error {
	if err := o.check(); err != nil {
		return &usageError{cmd.CommandPath(), err}
	}
	if err := o.absent(); err != nil {
		return err
	}
	if !o.yes && isTerminal(cmd.InOrStdin()) {
		if err := o.ask(cmd); err != nil {
			return err
		}
	}
	o.Mechanism = config.Mechanism(o.mechanism)
	text, err := config.Init(o.InitOptions)
	if err != nil {
		return told(cmd.ErrOrStderr(), err)
	}
	if err := o.write(text); err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "wrote %s; next:\n  sluice validate -f %[1]s\n  sluice run -f %[1]s\n", o.file)
	return nil
}

func (o *initOptions) check() error {
	if o.mechanism != "" && !slices.Contains(mechanisms, o.mechanism) {
		return fmt.Errorf("--sasl %q; allowed are %s", o.mechanism, strings.Join(mechanisms, ", "))
	}
	if (o.mechanism == "") != (o.Username == "") {
		return errors.New("--sasl and --user go together")
	}
	return nil
}

func (o *initOptions) absent() error {
	_, err := os.Lstat(o.file)
	switch {
	case o.force || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("%s is there already; --force overwrites it", o.file)
}

// write makes the file. One that came into being meanwhile is not overwritten either.
func (o *initOptions) write(text []byte) error {
	how := os.O_CREATE | os.O_WRONLY | os.O_EXCL
	if o.force {
		how = os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	}
	f, err := os.OpenFile(o.file, how, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
