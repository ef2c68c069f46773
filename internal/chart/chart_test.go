package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
)

func figure(y float64, log bool) *Figure {
	return &Figure{
		Title: "A < B & C", About: "about", Lines: []string{"one", "two"},
		Panels: []Panel{{Title: "panel", X: Axis{Label: "x"}, Y: Axis{Log: log}, Lines: [][]Point{
			{{X: 1, Y: y}, {X: 2, Y: 3, Open: true}},
			{{X: 1, Y: 2}, {X: 2, Y: 4}},
		}}},
	}
}

func TestAFigureIsTextInBothModes(t *testing.T) {
	var b, again bytes.Buffer
	for _, w := range []io.Writer{&b, &again} {
		if err := figure(1, true).Write(w); err != nil {
			t.Fatal(err)
		}
	}
	if b.String() != again.String() {
		t.Error("the same figure is written in two ways")
	}
	var words []string
	for d := xml.NewDecoder(&again); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("it is no XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if token.Name.Local == "script" || token.Name.Local == "image" {
				t.Errorf("it has an element %s", token.Name.Local)
			}
		case xml.CharData:
			words = append(words, string(token))
		}
	}
	all := strings.Join(words, " ")
	for _, want := range []string{"A < B & C", "one", "two", "panel", "prefers-color-scheme:dark"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if n := strings.Count(b.String(), ` open"`); n != 1 {
		t.Errorf("%d hollow points, want 1", n)
	}
}

func TestWhatCannotBeDrawn(t *testing.T) {
	for _, c := range []struct {
		name string
		f    *Figure
	}{
		{"0 by ratios", figure(0, true)},
		{"no number", figure(math.NaN(), false)},
		{"no end", figure(math.Inf(1), false)},
	} {
		if err := c.f.Write(io.Discard); !errors.Is(err, ErrPoint) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	f := figure(1, false)
	f.Lines = f.Lines[:1]
	if f.Write(io.Discard) == nil {
		t.Error("a line that the legend does not name is drawn")
	}
	f.Lines = make([]string, len(marks)+1)
	if f.Write(io.Discard) == nil {
		t.Error("lines without marks of their own are drawn")
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis   Axis
		values []float64
		want   []float64
	}{
		{Axis{}, []float64{0, 18.1}, []float64{0, 5, 10, 15, 20}},
		{Axis{}, []float64{0, 1}, []float64{0, 0.2, 0.4, 0.6, 0.8, 1}},
		{Axis{}, []float64{0}, []float64{0}},
		{Axis{}, nil, []float64{1}},
		{Axis{Log: true}, []float64{2.2, 683}, []float64{1, 10, 100, 1000}},
		{Axis{Log: true}, []float64{2.2, 97}, []float64{2, 5, 10, 20, 50, 100}},
		{Axis{Log: true}, []float64{10, 20}, []float64{10, 20}},
		{Axis{Log: true}, []float64{7}, []float64{5, 10}},
		{Axis{Log: true, Ticks: []float64{2, 4, 8}}, []float64{2, 8}, []float64{2, 4, 8}},
	} {
		s, err := newScale(c.axis, c.values, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		var rounded []float64
		for _, v := range s.ticks {
			rounded = append(rounded, math.Round(v*1e6)/1e6)
		}
		if !reflect.DeepEqual(rounded, c.want) {
			t.Errorf("%+v %v: ticks %v, want %v", c.axis, c.values, rounded, c.want)
		}
		for _, v := range append(c.values, s.ticks...) {
			if at := s.at(v); at < -1e-6 || at > 100+1e-6 {
				t.Errorf("%+v %v: %v is at %v", c.axis, c.values, v, at)
			}
		}
	}
}

func TestPlaces(t *testing.T) {
	line, _ := newScale(Axis{Ticks: []float64{0, 10}}, nil, 100, 200)
	ratio, _ := newScale(Axis{Log: true, Ticks: []float64{1, 100}}, nil, 200, 100)
	for _, c := range []struct {
		s       scale
		v, want float64
	}{
		{line, 0, 100},
		{line, 5, 150},
		{line, 10, 200},
		{ratio, 1, 200},
		{ratio, 10, 150},
		{ratio, 100, 100},
	} {
		if got := c.s.at(c.v); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v is at %v, want %v", c.v, got, c.want)
		}
	}
}

func TestLabels(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.2: "0.2", 0.6000000000000001: "0.6", 1000: "1000", 10_000: "10,000", 200_000: "200,000", 1e9: "1e+09"} {
		if got := label(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}
