package main

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Bounds of one request, and of all that are held at once: a typing error must not take the machine down.
const (
	maxGoroutines   = 10_000
	maxMilliseconds = 600_000
	maxSpin         = 1_000 // microseconds
	maxHeld         = 50_000
)

// A goroutine that spins does so this often.
const tick = 100 * time.Millisecond

// workload is load at a caller's word: /work?n=200&ms=5000 holds 200 goroutines for five seconds and answers at once.
// With &spin=20 each of them wakes every 100 ms and burns 20 microseconds of CPU, so that they wait for one another
// and the scheduler latency rises too.
type workload struct{ held atomic.Int64 }

func (l *workload) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	n, errN := bounded(query.Get("n"), "n", 1, maxGoroutines)
	ms, errMs := bounded(query.Get("ms"), "ms", 1, maxMilliseconds)
	spin, errSpin := bounded(query.Get("spin"), "spin", 0, maxSpin)
	if query.Get("spin") == "" {
		spin, errSpin = 0, nil
	}
	for _, err := range []error{errN, errMs, errSpin} {
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	if l.held.Add(int64(n)) > maxHeld {
		l.held.Add(int64(-n))
		http.Error(w, fmt.Sprintf("more than %d goroutines would be held", maxHeld), http.StatusTooManyRequests)
		return
	}
	end := time.Now().Add(time.Duration(ms) * time.Millisecond)
	for range n {
		go l.hold(end, time.Duration(spin)*time.Microsecond)
	}
	w.WriteHeader(http.StatusAccepted)
	fmt.Fprintf(w, "holding %d goroutines for %d ms\n", n, ms)
}

func (l *workload) hold(end time.Time, spin time.Duration) {
	defer l.held.Add(-1)
	if spin == 0 {
		time.Sleep(time.Until(end))
		return
	}
	for left := time.Until(end); left > 0; left = time.Until(end) {
		for begun := time.Now(); time.Since(begun) < spin; {
		}
		time.Sleep(min(tick, left))
	}
}

func bounded(text, name string, low, high int) (int, error) {
	value, err := strconv.Atoi(text)
	if err != nil || value < low || value > high {
		return 0, fmt.Errorf("%s must be a whole number from %d to %d, not %.20q", name, low, high, text)
	}
	return value, nil
}
