package history_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

func TestMessagesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	m := &history.Messages{Left: 3, List: []history.Message{
		{Sent: time.Second, Arrived: 2 * time.Second, From: "c1", To: "redis-1", Type: history.Request, Text: `SET a "<b>" NX`, By: 7},
		{Sent: 2 * time.Second, Lost: true, From: "redis-1", To: "c1", Type: history.Reply, Text: "OK", By: 7},
		{Sent: 2 * time.Second, Arrived: 3 * time.Second, Late: true, From: "redis-1", To: "c1", Type: history.Reply, Text: "OK"},
	}}
	var file bytes.Buffer
	if err := history.EncodeMessages(&file, m); err != nil {
		t.Fatal(err)
	}
	const first = `{"messages":1,"left_out":3}
{"sent":1000000000,"arrived":2000000000,"from":"c1","to":"redis-1","type":"request","text":"SET a \"<b>\" NX","by":7}
{"sent":2000000000,"lost":true,"from":"redis-1"`
	if !strings.HasPrefix(file.String(), first) {
		t.Errorf("it begins with\n%s", file.String())
	}
	got, err := history.DecodeMessages(&file)
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOtherFilesAreNoMessages(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{}", `{"lockcheck":1}`, `{"messages":2}`, "{\"messages\":1}\n[]", "{\"messages\":1}\n{\"sent\":"} {
		if m, err := history.DecodeMessages(strings.NewReader(text)); err == nil {
			t.Errorf("%q: %+v", text, m)
		}
	}
}
