package judging

import (
	"strings"

	"github.com/lockcheck/lockcheck/checker/models"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/exit"
)

// ParseModel returns the model with a name, and with its number if it has one.
func ParseModel(text string) (*models.Model, error) {
	name, _, _ := strings.Cut(text, "=")
	var known []string
	for _, m := range models.All() {
		known = append(known, m.Name)
		if m.Name != name {
			continue
		}
		m, err := models.Parse(text)
		if err != nil {
			return nil, exit.Errorf(exit.Usage, "--model %s: %w", text, err)
		}
		return &m, nil
	}
	return nil, ask.Unknown("model", name, known)
}
