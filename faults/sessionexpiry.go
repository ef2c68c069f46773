package faults

var sessionExpiry = Fault{
	Name:  "session-expiry",
	Does:  "a client's session is closed from elsewhere, and the client learns it with its next request",
	On:    OnClient,
	Need:  NeedSessions,
	Start: func(p Place, _ int, in Injection) error { return p.ExpireSession(in.On[0]) },
}
