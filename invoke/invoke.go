// Package invoke is the seam to functions: what an invocation is, how it can fail, the forms in which it carries a
// batch and the batch response that may come back.
//
// A batch has one of three forms, by the mapping's payload: Lambda's Kafka event document (Encoder), the value of a
// single record (RawEncoder), or CloudEvents (CloudEventsEncoder). Each plans the size of a batch before it is
// acquired, and writes it into a Request.
//
// It encodes and decodes but does not call anybody: the targets (httpfn, later lambda and runtimeapi) do, and
// what to do about a failure is the failure room's to say.
package invoke

import (
	"context"
	"time"
)

// Function is a target that can be invoked. Invoke is called by many goroutines at once. It returns within
// req.Timeout plus the time to notice, or when ctx ends. The error, if any, is always an *Error.
type Function interface {
	Invoke(ctx context.Context, req *Request) (Response, error)
}

// Request is one invocation.
type Request struct {
	// Mapping is the name of the event source mapping.
	Mapping string
	// Attempt counts from 1: the invocations of these records, this one included.
	Attempt int
	// BatchID is the same for every invocation of the same records: see BatchID.
	BatchID string
	// Body carries the records. The function must not keep it after Invoke returns.
	Body []byte
	// Header says what Body is: for targets that speak HTTP. nil where Body is Lambda's event document, and then the
	// target knows what to say; otherwise these headers are all there is to say of Body, Content-Type among them.
	Header []Header
	// WantBody asks for the response body (the mapping reports batch item failures). Without it the body is
	// read and thrown away, up to ResponseBytesMax.
	WantBody bool
	// Buffer is memory that Response.Body may reuse; may be nil.
	Buffer []byte
	// Timeout bounds the whole invocation; 0 means that ctx alone does.
	Timeout time.Duration
}

// Response is a successful invocation.
type Response struct {
	// Status is the HTTP status, 200 where the target has none.
	Status int
	// Body is the response, only where the request asked for it; it may alias Request.Buffer.
	Body []byte
}

// ResponseBytesMax bounds a function's response (AWS, Lambda quotas: 6 MB for a synchronous invocation). A longer
// one is a Malformed error.
const ResponseBytesMax = 6 << 20

// PayloadBytesMax is the default bound of an encoded event (AWS, Lambda quotas: 6 MB synchronous payload).
const PayloadBytesMax = 6 << 20
