package admin

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/sluicehq/sluice/controller"
)

func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// Every answer is as the document says, and every schema is closed: a member that the document does not name fails.
func TestAnswersAreAsDocumented(t *testing.T) {
	router, err := legacy.NewRouter(document(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		target string
		ready  []string
		code   int
	}{
		{"/sluice/v1/status", nil, 200},
		{"/sluice/v1/status?x=1", nil, 400},
		{"/sluice/v1/explain?mapping=orders", nil, 200},
		{"/sluice/v1/explain?mapping=orders&partition=3", nil, 200},
		{"/sluice/v1/explain?mapping=nope", nil, 404},
		{"/sluice/v1/explain?mapping=broken", nil, 500},
		{"/sluice/v1/explain", nil, 400},
		{"/sluice/v1/decisions?mapping=orders", nil, 200},
		{"/sluice/v1/decisions?mapping=new", nil, 200},
		{"/sluice/v1/decisions?mapping=nope", nil, 404},
		{"/sluice/v1/openapi.json", nil, 200},
		{"/healthz", nil, 200},
		{"/readyz", nil, 200},
		{"/readyz", []string{"mapping orders: not joined"}, 503},
		{"/metrics", nil, 200},
	} {
		t.Run(c.target, func(t *testing.T) {
			w := get(handler(&fake{ready: c.ready}), c.target)
			if w.Code != c.code {
				t.Fatalf("%d, want %d: %s", w.Code, c.code, w.Body)
			}
			r, _ := http.NewRequest(http.MethodGet, "http://127.0.0.1:8440"+c.target, nil)
			route, params, err := router.FindRoute(r)
			if err != nil {
				t.Fatal(err)
			}
			validate(t, r, route, params, w.Code, w.Header(), w.Body.Bytes())
		})
	}
}

func validate(t *testing.T, r *http.Request, route *routers.Route, params map[string]string, code int, header http.Header, body []byte) {
	t.Helper()
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route},
		Status:                 code, Header: header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%v\n%s", err, body)
	}
}

// The document and the Go types name the same members: what the fake happens to leave out is covered as well.
func TestTheDocumentNamesEveryMember(t *testing.T) {
	schemas := document(t).Components.Schemas
	for name, v := range map[string]any{
		"Status": controller.Status{}, "Mapping": controller.MappingStatus{}, "Counts": controller.Counts{},
		"Partition": controller.PartitionStatus{}, "Explanation": controller.Explanation{},
		"PartitionExplanation": controller.PartitionExplanation{}, "Wait": controller.Wait{}, "Decision": controller.Decision{},
		"Decisions": Decisions{}, "Error": Error{}, "Health": Health{}, "Readiness": Readiness{},
	} {
		schema := schemas[name]
		if schema == nil {
			t.Errorf("no schema %s", name)
			continue
		}
		want, required := members(reflect.TypeOf(v))
		var got []string
		for property := range schema.Value.Properties {
			got = append(got, property)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the document has %v, the type %v", name, got, want)
		}
		requiredThere := slices.Sorted(slices.Values(schema.Value.Required))
		if !slices.Equal(requiredThere, required) {
			t.Errorf("%s: required in the document are %v, never left out of the type %v", name, requiredThere, required)
		}
	}
}

func members(t reflect.Type) (all, required []string) {
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		all = append(all, name)
		if options != "omitempty" {
			required = append(required, name)
		}
	}
	slices.Sort(all)
	slices.Sort(required)
	return all, required
}
