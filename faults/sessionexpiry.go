package faults

var sessionExpiry = Fault{
	Name: "session-expiry",
	Does: "a client's session is closed from elsewhere, and the client is not told before it asks",
	On:   OnClient,
	Need: NeedSessions,
	Once: true,
	Words: Words{
		Lane: "session",
		Past: "the session|sessions of {on} was|were closed from elsewhere",
		Now:  "the session|sessions of {on} is|are closed from elsewhere",
	},
	Start: func(p Place, _ int, in Injection) error { return p.ExpireSession(in.On[0]) },
}
