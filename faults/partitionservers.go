package faults

var partitionServers = Fault{
	Name:  "partition-servers",
	Does:  "servers are cut off from the other servers, and clients reach all of them, 0.1–2.5 T",
	On:    OnServers,
	Need:  NeedReplicas,
	Stops: true,
	Start: func(p Place, id int, in Injection) error { return p.Isolate(id, in.On) },
	Heal:  restore,
	Draw:  drawDuration,
}
