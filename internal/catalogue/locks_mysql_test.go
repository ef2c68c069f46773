package catalogue_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

func TestClientsHaveNames(t *testing.T) {
	for _, tt := range []struct {
		client, address string
		shared          bool
	}{
		{"c1", "10.0.0.1", false},
		{"c12", "10.0.0.12", false},
		{"c1", "127.0.1.1", true},
	} {
		e := catalogue.Env{Options: catalogue.Options{SharedIdentity: tt.shared}}
		if e.Name(tt.client); e.Address != tt.address || e.Thread != "main" {
			t.Errorf("%s, shared %v: %s %s, want %s", tt.client, tt.shared, e.Address, e.Thread, tt.address)
		}
	}
}
