package connect

import (
	"context"
	"errors"

	"github.com/sluicehq/sluice/cmd/sluice/service"
	"github.com/sluicehq/sluice/config"
	"github.com/sluicehq/sluice/invoke"
	"github.com/sluicehq/sluice/invoke/httpfn"
)

// function connects to a function, and shakes hands over https.
func (k *checker) function(ctx context.Context, f config.Function) {
	if f.URL == "" {
		return
	}
	if !k.inDate(f.TLS, func(key string) config.Where { return k.config.FunctionAt(f.Name, "tls."+key) }) {
		return
	}
	err := httpfn.Reach(ctx, service.FunctionConfig(f, nil))
	if err == nil {
		return
	}
	hint := ""
	var failed *invoke.Error
	if errors.As(err, &failed) {
		err, hint = failed.Err, failed.Hint
	}
	k.report(k.config.FunctionAt(f.Name, "url"), hint, "is not within reach: %v", err)
}
