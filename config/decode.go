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
		values:    map[string]located{},
	}
	server := &field.Node{Kind: field.Dictionary}
	for _, root := range l.roots {
		server.Members = append(server.Members, members(root, "server")...)
		for _, m := range members(root, "clusters") {
			name := mapping.ClusterName(m.Key)
			c.Clusters[name] = l.cluster(name, m)
			c.locate("clusters."+m.Key, m)
		}
		for _, m := range members(root, "functions") {
			name := mapping.FunctionName(m.Key)
			c.Functions[name] = l.function(name, m)
			c.locate("functions."+m.Key, m)
		}
	}
	c.Server = Server{
		Listen:       field.Read[string](&serverType, server, "listen"),
		DrainTimeout: field.Read[time.Duration](&serverType, server, "drainTimeout"),
	}
	for _, m := range server.Members {
		c.locate("server."+m.Key, m)
		if m.Key == "memoryLimit" {
			c.Server.MemoryLimit = field.Read[int64](&serverType, server, "memoryLimit")
		}
	}
	for path, n := range l.mappings() {
		m := mapping.FromChecked(n)
		c.Mappings = append(c.Mappings, m)
		c.values["mappings."+string(m.Name)] = located{path, n.Place, n}
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

func (l *loader) cluster(name mapping.ClusterName, m field.Member) Cluster {
	n := m.Value
	return Cluster{
		Name: name, BootstrapServers: field.Strings(n, "bootstrapServers"), TLS: tlsAt(n), SASL: l.sasl(n.At("sasl")),
		ARN: text(n, "arn"), Place: m.Place,
	}
}

// tlsAt returns the tls block of a cluster or function, nil where it has none.
func tlsAt(n *field.Node) *TLS {
	t := n.At("tls")
	if t == nil {
		return nil
	}
	return &TLS{CAFile: fileAt(t, "caFile"), CertFile: fileAt(t, "certFile"), KeyFile: fileAt(t, "keyFile"), ServerName: text(t, "serverName")}
}

func (l *loader) sasl(n *field.Node) *SASL {
	if n == nil {
		return nil
	}
	s := &SASL{
		Mechanism: Mechanism(text(n, "mechanism")), Username: text(n, "username"), Password: secretAt(n, "password", l.options),
		Region: text(n, "region"),
	}
	if s.Mechanism == OAuthBearer {
		s.OAuth = &OAuth{
			TokenEndpointURL: text(n, "tokenEndpointUrl"), TokenEndpointCAFile: fileAt(n, "tokenEndpointCaFile"),
			ClientID: text(n, "clientId"), ClientSecret: secretAt(n, "clientSecret", l.options),
			Scope: text(n, "scope"), Audience: text(n, "audience"), Extensions: map[string]string{},
		}
		for _, m := range members(n, "extensions") {
			s.OAuth.Extensions[m.Key] = m.Value.Text
		}
	}
	return s
}

func (l *loader) function(name mapping.FunctionName, m field.Member) Function {
	f := Function{
		Name:             name,
		URL:              text(m.Value, "url"),
		Timeout:          field.Read[time.Duration](&functionType, m.Value, "timeout"),
		ErrorDetection:   ErrorDetection(field.Read[string](&functionType, m.Value, "errorDetection")),
		OutageProtection: field.Read[bool](&functionType, m.Value, "outageProtection"),

		Headers: map[string]Secret{},
		TLS:     tlsAt(m.Value),
		Place:   m.Place,
	}
	if m.Value.At("maxConcurrency") != nil {
		f.MaxConcurrency = int(field.Read[int64](&functionType, m.Value, "maxConcurrency"))
	}
	for _, h := range members(m.Value, "headers") {
		f.Headers[h.Key] = secretOf(h.Value, l.options)
	}
	return f
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
