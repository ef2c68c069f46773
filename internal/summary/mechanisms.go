package summary

import (
	"fmt"
	"strconv"

	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

// mostMechanisms is how many mechanisms the list of a cell has without --verbose.
const mostMechanisms = 10

// mechanisms prints the mechanisms of promised properties, the rarest first, if a property
// was violated in several ways, or if some are left out.
func (to *Printer) mechanisms(c *results.Cell) {
	list, tell := c.Mechanisms()
	if !tell {
		return
	}
	to.Printf("Mechanisms, the rarest first: runs, first seed, name\n\n")
	wide := 0
	for _, m := range list {
		wide = max(wide, len(strconv.FormatUint(m.Seed, 10)))
	}
	for i, m := range list {
		if i == mostMechanisms && !to.Verbose {
			to.Printf("   … and %s more (--verbose)\n", names.Thousands(len(list)-i))
			break
		}
		name := string(m.Name)
		if m.LeftOut {
			name += " (left out)"
		}
		to.Paragraph(2, fmt.Sprintf("%6s  %*d  %s", names.Thousands(m.Count), wide, m.Seed, name))
	}
	to.Printf("\n")
}
