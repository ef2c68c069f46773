package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// MessagesFormat is the number of the format of a file of messages, in its first line.
const MessagesFormat = 1

// Messages are the messages of a run, in the order in which they were sent.
type Messages struct {
	List []Message
	Left int // how many later ones are left out
}

// Message is a message between a client and a server, or between two servers. No verdict
// depends on it.
type Message struct {
	Sent time.Duration `json:"sent"`
	// Arrived is when it reached the other host, which may be paused; 0: it was lost, or
	// was on its way when the run ended.
	Arrived time.Duration `json:"arrived,omitempty"`
	Lost    bool          `json:"lost,omitempty"` // it never arrives
	Late    bool          `json:"late,omitempty"` // when it arrived, the client no longer waited for the answer
	From    string        `json:"from"`
	To      string        `json:"to"`
	Type    MessageType   `json:"type"`
	Text    string        `json:"text"`         // the command or the answer, in short
	By      int           `json:"by,omitempty"` // the index of the invoke that it belongs to; 0: none
}

// MessageType is the type of a message.
type MessageType string

// The types of messages.
const (
	Request     MessageType = "request"
	Reply       MessageType = "reply"
	Notice      MessageType = "notice"      // a server's message that nobody asked for
	Replication MessageType = "replication" // between two servers
)

// messagesHeader is the first line of a file of messages.
type messagesHeader struct {
	Format int `json:"messages"`
	Left   int `json:"left_out,omitempty"`
}

// EncodeMessages writes a file of messages: a line that says so, then one line for each
// message. The error is w's.
func EncodeMessages(w io.Writer, m *Messages) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(messagesHeader{MessagesFormat, m.Left}); err != nil {
		return err
	}
	for i := range m.List {
		if err := enc.Encode(&m.List[i]); err != nil {
			return err
		}
	}
	return b.Flush()
}

// DecodeMessages reads a file of messages. It returns an error if r is not such a file, or
// of a later format.
func DecodeMessages(r io.Reader) (*Messages, error) {
	dec := json.NewDecoder(r)
	var head messagesHeader
	if err := dec.Decode(&head); err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if head.Format != MessagesFormat {
		return nil, fmt.Errorf("line 1: no messages in format %d", MessagesFormat)
	}
	m := &Messages{Left: head.Left}
	for {
		var x Message
		switch err := dec.Decode(&x); {
		case errors.Is(err, io.EOF):
			return m, nil
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", len(m.List)+2, err)
		}
		m.List = append(m.List, x)
	}
}
