package config

import (
	"time"

	"github.com/sluicehq/sluice/mapping"
	"github.com/sluicehq/sluice/mapping/field"
)

// decode turns the checked files into a Config.
func (l *loader) decode() *Config {
	c := &Config{
		Clusters:  map[mapping.ClusterName]Cluster{},
		Functions: map[mapping.FunctionName]Function{},
		places:    map[mapping.Name]field.Place{},
	}
	server := &field.Node{Kind: field.Dictionary}
	for _, root := range l.roots {
		server.Members = append(server.Members, members(root, "server")...)
		for _, m := range members(root, "clusters") {
			name := mapping.ClusterName(m.Key)
			c.Clusters[name] = cluster(name, m)
		}
		for _, m := range members(root, "functions") {
			name := mapping.FunctionName(m.Key)
			c.Functions[name] = function(name, m)
		}
	}
	c.Server = Server{
		Listen:       field.Read[string](&serverType, server, "listen"),
		DrainTimeout: field.Read[time.Duration](&serverType, server, "drainTimeout"),
	}
	for _, n := range l.mappings() {
		m := mapping.FromChecked(n)
		c.Mappings = append(c.Mappings, m)
		c.places[m.Name] = n.Place
	}
	return c
}

// members returns the members of a block, none where it is missing.
func members(root *field.Node, block string) []field.Member {
	if n := root.At(block); n != nil {
		return n.Members
	}
	return nil
}

func cluster(name mapping.ClusterName, m field.Member) Cluster {
	n := m.Value
	c := Cluster{Name: name, BootstrapServers: field.Strings(n, "bootstrapServers"), ARN: text(n, "arn"), Place: m.Place}
	if t := n.At("tls"); t != nil {
		c.TLS = &TLS{CAFile: fileAt(t, "caFile"), CertFile: fileAt(t, "certFile"), KeyFile: fileAt(t, "keyFile"), ServerName: text(t, "serverName")}
	}
	if s := n.At("sasl"); s != nil {
		c.SASL = &SASL{Mechanism: Mechanism(text(s, "mechanism")), Username: text(s, "username"), Password: NewSecret(text(s, "password"))}
	}
	return c
}

func function(name mapping.FunctionName, m field.Member) Function {
	return Function{
		Name:           name,
		URL:            text(m.Value, "url"),
		Timeout:        field.Read[time.Duration](&functionType, m.Value, "timeout"),
		ErrorDetection: ErrorDetection(field.Read[string](&functionType, m.Value, "errorDetection")),
		Place:          m.Place,
	}
}

// text returns the text at a path, "" where it is missing.
func text(n *field.Node, path string) string {
	if v := n.At(path); v != nil {
		return v.Text
	}
	return ""
}

// fileAt returns the file's name at a path as seen from the working directory, "" where it is missing.
func fileAt(n *field.Node, path string) string {
	v := n.At(path)
	if v == nil {
		return ""
	}
	return beside(v.Place.File, v.Text)
}
