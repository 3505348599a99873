// My-go-app is a small service that shows what the autoscaler can know of a Go program without changing it:
// its goroutines, and how long they wait for a CPU. It uses nothing but the standard library.
package main

import (
	"context"
	"errors"
	"expvar"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// A pod is told to stop and killed 30 s later; what is in flight gets a third of that.
const stopWithin = 10 * time.Second

func main() {
	address := flag.String("addr", ":8080", "address to listen on; port 0 takes a free one")
	factor := flag.Float64("bucket-factor", 2,
		"each histogram bucket is at least this many times the one before; 10 is what client_golang exposes")
	flag.Parse()
	if *factor <= 1 {
		log.Fatal("-bucket-factor must be greater than 1")
	}
	if err := run(*address, *factor); err != nil {
		log.Fatal(err)
	}
}

func run(address string, factor float64) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	// The first line on stdout: whoever started us with port 0 reads here where we are.
	fmt.Println(listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := &http.Server{Handler: newHandler(factor), ReadHeaderTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	if err := server.Shutdown(ending); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

func newHandler(factor float64) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metricsPage{started: time.Now(), factor: factor})
	mux.Handle("GET /debug/vars", expvar.Handler())
	mux.Handle("/work", &workload{})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	return mux
}

func init() {
	expvar.Publish("goroutines", expvar.Func(func() any { return runtime.NumGoroutine() }))
}
