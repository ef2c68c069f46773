package faults

var partitionServers = Fault{
	Name:  "partition-servers",
	Does:  "servers are cut off from the other servers, and clients reach all of them, 0.1–2.5 T",
	On:    OnServers,
	Need:  NeedReplicas,
	Stops: true,
	Words: Words{
		Lane: "cut off",
		Past: "{on} was|were cut off from the other servers{for}",
		Now:  "{on} is|are cut off from the other servers{for}",
		Over: "{on} reaches|reach the other servers again",
	},
	Start: func(p Place, id int, in Injection) error { return p.Isolate(id, in.On) },
	Heal:  restore,
	Draw:  drawDuration,
}
