package httpfn

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/invoke"
)

const (
	// headerFunctionError is set on a 200 response when the function failed (AWS, Lambda API, Invoke).
	headerFunctionError = "X-Amz-Function-Error"
	// retryAfterMax bounds what a target may ask us to wait.
	retryAfterMax = 15 * time.Minute
	// errorBytesMax is how much of an error response is read for its message, drainBytesMax how much more is read
	// to keep the connection.
	errorBytesMax = 64 << 10
	drainBytesMax = 256 << 10
)

// kindOf is the table of product contract, «Functions»: what a status other than 2xx means.
func kindOf(status int) invoke.Kind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return invoke.Denied
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return invoke.Throttled
	case http.StatusRequestEntityTooLarge:
		return invoke.TooLarge
	}
	return invoke.FunctionError
}

// refused turns an error response into an error. The status decides the kind even if the body breaks off.
func (f *Function) refused(resp *http.Response) *invoke.Error {
	e := &invoke.Error{Kind: kindOf(resp.StatusCode), Status: resp.StatusCode}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 { // by its header
		e.Type = resp.Header.Get(headerFunctionError)
	}
	var text []byte
	if resp.StatusCode >= 200 { // 101 has no body but the connection itself
		text, _ = io.ReadAll(io.LimitReader(resp.Body, errorBytesMax))
		_, _ = discard(resp.Body, make([]byte, 4<<10), drainBytesMax)
	}
	explain(e, resp.Header, text)
	if e.Kind == invoke.Throttled {
		e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	e.Hint = f.hintForStatus(resp)
	return e
}

func (f *Function) hintForStatus(resp *http.Response) string {
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode <= 399:
		return fmt.Sprintf("redirects are never followed: set functions.%s.url to where the function is%s", f.name, location(resp))
	case kindOf(resp.StatusCode) == invoke.Denied:
		return fmt.Sprintf("the function wants authorisation: set it in functions.%s.headers", f.name)
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusMethodNotAllowed:
		return fmt.Sprintf("check the path of functions.%s.url: it must take a POST", f.name)
	case resp.StatusCode == http.StatusBadRequest && f.emulator:
		return "Lambda's runtime interface emulator takes one call at a time and answers 400 to a second: set pollerLimits.concurrency and maximumPollers to 1"
	}
	return ""
}

// location is where a redirect points, without what may be secret in it.
func location(resp *http.Response) string {
	u, err := url.Parse(resp.Header.Get("Location"))
	if err != nil || u.Host == "" {
		return ""
	}
	return " (" + cut((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String(), 200) + ")"
}

// retryAfter reads a Retry-After header, in seconds or as a date; 0 if there is none, or none that makes sense.
func retryAfter(value string, now time.Time) time.Duration {
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(value, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(retryAfterMax/time.Second))) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), retryAfterMax)
}

// tooLong is the error for a response beyond the bound. The rest is not read: closing the body closes the connection.
func tooLong(resp *http.Response) *invoke.Error {
	return &invoke.Error{
		Kind: invoke.Malformed, Status: resp.StatusCode,
		Message: fmt.Sprintf("response is longer than %d bytes", invoke.ResponseBytesMax),
	}
}
