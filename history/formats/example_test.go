package formats_test

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/lockcheck/lockcheck/history/formats"
)

func ExampleNewReader() {
	in, err := formats.NewReader(strings.NewReader(`
{:process 0, :type :invoke, :f :acquire, :time 0}
{:process 0, :type :ok, :f :acquire, :time 5000000}
`), "history.edn", formats.Reading{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := in.Next(); !errors.Is(err, io.EOF); e, err = in.Next() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("line %d: %v %s %s\n", in.Line(), e.Time, e.F, e.Type)
	}
	// Output:
	// line 2: 0s acquire invoke
	// line 3: 5ms acquire ok
}
