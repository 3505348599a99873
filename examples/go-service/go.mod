module my-go-app

// From 1.25 on, GOMAXPROCS follows the CPU limit of the container. Before that, a pod limited to one CPU on a
// 64-core node runs 64 schedulers, and its scheduler latency says more about throttling than about load.
go 1.25
