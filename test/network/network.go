// Package network puts a bad network between a client and a server of a test: toxiproxy, in the test's own process.
//
// A Link listens where the client is told that the server is. It passes everything on until it is told otherwise. It
// knows nothing of Kafka and HTTP.
package network

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/rs/zerolog"
)

// Link is the way to one server. Its methods may be called from any goroutine.
//
// It accepts connections itself and has toxiproxy carry them, because toxiproxy's own proxy can neither reset a
// connection that is there already nor tell new connections from old ones.
type Link struct {
	address, upstream string
	server            *toxiproxy.ApiServer
	proxy             *toxiproxy.Proxy // never started: what links and toxics belong to

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	number   int          // of connections so far
	pairs    map[pair]bool
	// eras are the toxics of all connections, by when they were made: the last is that of new ones. A collection can
	// hang for good when it is changed while one of its connections breaks, so nothing waits for one for long.
	eras []*toxiproxy.ToxicCollection
}

// pair is a client's connection to us and ours to the server.
type pair struct{ client, server *net.TCPConn }

// Open listens at an address (with port 0: any) for connections to the server at upstream. Close ends it.
func Open(listen, upstream string) (*Link, error) {
	zerolog.SetGlobalLevel(zerolog.Disabled) // some toxics log by themselves
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := &Link{
		address: listen, upstream: upstream, server: server,
		proxy: toxiproxy.NewProxy(server, upstream, listen, upstream), pairs: make(map[pair]bool),
	}
	l.newEra()
	if err := l.listen(); err != nil {
		return nil, fmt.Errorf("link to %s: %w", upstream, err)
	}
	return l, nil
}

// Address is where clients connect to.
func (l *Link) Address() string { return l.address }

// Close ends all connections and stops listening.
func (l *Link) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refuse()
	l.end(false)
}

// Impair begins a fault, for the connections that are there and for those that come, until Heal.
func (l *Link) Impair(f Fault) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.refuses {
		l.refuse()
	}
	if f.ends {
		l.end(f.resets)
	}
	old, fresh := l.eras, l.newEra()
	for _, t := range f.toxics {
		if err := t.add(fresh); err != nil {
			return err
		}
	}
	each(old, func(c *toxiproxy.ToxicCollection) {
		for _, t := range f.toxics {
			_ = t.add(c) // the same that the new era has taken
		}
	})
	if f.forgets {
		l.eras = nil
		l.newEra()
	}
	return nil
}

// Heal ends all faults. Connections that Forget was for stay as they are.
func (l *Link) Heal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.eras
	l.newEra()
	each(old, reset)
	if l.listener != nil {
		return nil
	}
	return l.listen()
}

// newEra gives connections that are made from now on toxics of their own: none yet.
func (l *Link) newEra() *toxiproxy.ToxicCollection {
	fresh := toxiproxy.NewToxicCollection(l.proxy)
	l.eras = append(l.eras, fresh)
	return fresh
}

func (l *Link) listen() error {
	listener, err := net.Listen("tcp", l.address)
	if err != nil {
		return err
	}
	l.address, l.listener = listener.Addr().String(), listener
	go l.accept(listener)
	return nil
}

func (l *Link) refuse() {
	if l.listener != nil {
		_ = l.listener.Close()
		l.listener = nil
	}
}

// end ends all connections, by RST or by FIN.
func (l *Link) end(reset bool) {
	for p := range l.pairs {
		for _, c := range []*net.TCPConn{p.client, p.server} {
			if reset {
				_ = c.SetLinger(0)
			}
			_ = c.Close()
		}
	}
	clear(l.pairs)
}

func (l *Link) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return // closed
		}
		go l.carry(listener, client.(*net.TCPConn))
	}
}

// dialTimeout bounds connecting to the server.
const dialTimeout = 30 * time.Second

// carry connects a client to the server, as the network is now.
func (l *Link) carry(listener net.Listener, client *net.TCPConn) {
	up, err := net.DialTimeout("tcp", l.upstream, dialTimeout)
	if err != nil {
		_ = client.SetLinger(0) // the nearest to a refusal that is left
		_ = client.Close()
		return
	}
	p := pair{client, up.(*net.TCPConn)}
	l.mu.Lock()
	if l.listener != listener { // it was cut meanwhile
		l.mu.Unlock()
		_ = p.client.Close()
		_ = p.server.Close()
		return
	}
	era := l.eras[len(l.eras)-1]
	l.number++
	name := strconv.Itoa(l.number)
	l.pairs[p] = true
	l.mu.Unlock()
	both := &both{closed: func() {
		l.mu.Lock()
		delete(l.pairs, p)
		l.mu.Unlock()
	}}
	era.StartLink(l.server, name+"up", p.client, half{p.server, both}, stream.Upstream)
	era.StartLink(l.server, name+"down", p.server, half{p.client, both}, stream.Downstream)
}

// half is where one direction writes to. toxiproxy closes it when the direction has ended.
type half struct {
	*net.TCPConn
	both *both
}

// Close is io.Closer's.
func (h half) Close() error {
	h.both.one()
	return h.TCPConn.Close()
}

// both hears when both directions have ended.
type both struct {
	mu     sync.Mutex
	n      int
	closed func()
}

func (b *both) one() {
	b.mu.Lock()
	b.n++
	last := b.n == 2
	b.mu.Unlock()
	if last {
		b.closed()
	}
}
