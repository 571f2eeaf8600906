package runner

import (
	"errors"
	"net/http"
	"testing"

	"github.com/specsweep/specsweep/plan"
)

// Before a launched server starts, nobody may be at its address; a proxy's word that
// nobody is there is not somebody's answer, a certificate that is not trusted is.
func TestOccupied(t *testing.T) {
	for _, tc := range []struct {
		name   string
		proxy  string
		status int
		err    error
		want   bool
	}{
		{"answers", "", 200, nil, true},
		{"answers that it is starting", "", 503, nil, true},
		{"refused", "", 0, errors.New("connection refused"), false},
		{"speaks no TLS", "", 0, http.ErrSchemeMismatch, true},
		{"proxy finds nobody", "http://p", 502, nil, false},
		{"proxy finds nobody, as squid says", "http://p", 503, nil, false},
		{"proxy finds somebody", "http://p", 404, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := occupied(&plan.Endpoint{Proxy: tc.proxy}, tc.status, tc.err); got != tc.want {
				t.Errorf("occupied = %t, want %t", got, tc.want)
			}
		})
	}
}
