// Package http1 sends requests over HTTP/1.1 without TLS, as little as that takes: the goroutine that calls writes the
// request, in one go and out of the caller's memory, and reads the response. net/http hands a call over to two other
// goroutines and back, and copies the request; for a small event that is most of what the call costs.
//
// What must be exact is net/http's: it parses responses, their chunks and trailers included. Connections are kept alive
// and used again, the last one first. There is no proxy, no redirect, no HTTP/2 and no compression here.
//
// # What counts as sent
//
// Send says whether any of a request may have reached the server: its body's first byte was given to a connection, or
// for a request without body, its header's. A kept connection that turns out to be dead before that is replaced by a new
// one, once.
package http1
