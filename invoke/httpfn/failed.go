package httpfn

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/sluicehq/sluice/invoke"
)

// failed says what an exchange without response means. sent is whether any of the event may have reached the target.
func (f *Function) failed(ctx context.Context, err error, sent bool) *invoke.Error {
	ended := ctx.Err()
	switch {
	case errors.Is(ended, context.Canceled):
		return &invoke.Error{Kind: invoke.Canceled, Err: context.Cause(ctx)}
	case !sent:
		return &invoke.Error{Kind: invoke.Unreachable, Err: err, Hint: f.hintForNetwork(err)}
	case ended != nil:
		return &invoke.Error{Kind: invoke.Timeout, Err: fmt.Errorf("no response within the time-out: %w", err)}
	}
	return &invoke.Error{Kind: invoke.FunctionError, Err: err}
}

// brokenOff says what it means that the body of a 2xx response did not come to its end.
func (f *Function) brokenOff(ctx context.Context, resp *http.Response, err error) *invoke.Error {
	e := f.failed(ctx, fmt.Errorf("reading the response: %w", err), true)
	e.Status = resp.StatusCode
	if e.Kind == invoke.FunctionError {
		e.Kind = invoke.Malformed
	}
	return e
}

// hintForNetwork says what the operator can do about a connection that could not be made.
func (f *Function) hintForNetwork(err error) string {
	field := "functions." + f.name
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return "the host in " + field + ".url has no address: check its name"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at " + field + ".url: start the function, or correct host and port"
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "there is no route to the host in " + field + ".url"
	case errors.As(err, &unknown):
		return "the certificate's authority is not trusted here: name it in " + field + ".tls"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate behind " + field + ".url has expired or is not valid yet: renew it, and check this machine's clock"
	case errors.As(err, &certificate):
		return "the certificate does not fit the host in " + field + ".url"
	case errors.As(err, &record):
		return "the port does not speak TLS: use http:// in " + field + ".url"
	case errors.As(err, &op) && op.Op == "remote error": // crypto/tls for an alert
		return "the target refused the TLS handshake: check " + field + ".tls"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), isTimeout(err):
		return "no connection came about in time: is the host in " + field + ".url up, and does a firewall let us through?"
	}
	return "check " + field + ".url"
}

// hadConnection says whether err came after a connection had been made: where it did not, another try is for the
// failure room to time.
func hadConnection(err error) bool {
	var op *net.OpError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect" || op.Op == "remote error"),
		errors.As(err, &certificate), errors.As(err, &record), isTimeout(err):
		return false
	}
	return true
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}
