package main

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"
)

// Buckets beyond this are of no use to anyone: a goroutine that waits a second for a CPU waits too long.
const lastBoundary = 1.0 // seconds

// The histograms of runtime/metrics that are shown, under the names that client_golang gives them.
var shown = []struct{ name, source, help string }{
	{"go_sched_latencies_seconds", "/sched/latencies:seconds",
		"Time that goroutines were ready to run and waited for a CPU."},
	{"go_gc_pauses_seconds", "/sched/pauses/total/gc:seconds",
		"Time that the garbage collector stopped the program for."},
}

// metricsPage serves what it knows in Prometheus's text format.
type metricsPage struct {
	started time.Time
	factor  float64
}

func (p metricsPage) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	var page bytes.Buffer
	gauge(&page, "go_goroutines", "Number of goroutines that exist.", float64(runtime.NumGoroutine()))
	gauge(&page, "process_start_time_seconds", "Start of the process in seconds since 1970.",
		float64(p.started.UnixMilli())/1000)
	samples := make([]metrics.Sample, len(shown))
	for i := range shown {
		samples[i].Name = shown[i].source
	}
	metrics.Read(samples)
	for i, sample := range samples {
		if sample.Value.Kind() == metrics.KindFloat64Histogram { // an older or newer Go may not have it
			histogram(&page, shown[i].name, shown[i].help, sample.Value.Float64Histogram(), p.factor)
		}
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(page.Bytes()) // the scraper left: nothing to do about it
}

func gauge(page *bytes.Buffer, name, help string, value float64) {
	fmt.Fprintf(page, "# HELP %s %s\n# TYPE %s gauge\n%s %s\n", name, help, name, name, number(value))
}

// histogram writes one runtime/metrics histogram with fewer buckets. The runtime counts in 162 buckets, four
// to each power of two; as many time series per pod would be dear. Every boundary kept is one of the runtime's own,
// so the counts stay exact. (The runtime times one scheduling event in eight: a count is not the number of events.)
func histogram(page *bytes.Buffer, name, help string, h *metrics.Float64Histogram, factor float64) {
	fmt.Fprintf(page, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name)
	kept := boundaries(h.Buckets, factor)
	count, sum := uint64(0), 0.0
	for i, events := range h.Counts {
		count += events
		low, high := h.Buckets[i], h.Buckets[i+1]
		sum += float64(events) * middle(low, high)
		if len(kept) > 0 && high == kept[0] {
			// The runtime's upper boundaries are exclusive, Prometheus's inclusive: one float lower is exact.
			fmt.Fprintf(page, "%s_bucket{le=\"%s\"} %d\n", name, number(math.Nextafter(high, low)), count)
			kept = kept[1:]
		}
	}
	fmt.Fprintf(page, "%s_bucket{le=\"+Inf\"} %d\n", name, count)
	// The runtime keeps no sum. This one takes each event for the middle of the runtime's own bucket: from 256 ns on
	// off by at most an eighth. (client_golang takes the lower ends of its wide buckets: always too little.)
	fmt.Fprintf(page, "%s_sum %s\n%s_count %d\n", name, number(sum), name, count)
}

// boundaries picks, of the runtime's boundaries, the first positive one and then each that is at least `factor` times
// the one picked before. With factor 2 a quantile is known within a factor of two, in 25 buckets. With 10, which is
// client_golang's and can't be changed there, seven are left (... 0.9, 10.5, 117 ms): a 99th percentile then jumps
// from one to the next like a switch, and an autoscaler that follows it flaps.
func boundaries(all []float64, factor float64) []float64 {
	var kept []float64
	for _, edge := range all {
		if edge <= 0 || edge > lastBoundary {
			continue
		}
		if len(kept) == 0 || edge >= factor*kept[len(kept)-1] {
			kept = append(kept, edge)
		}
	}
	return kept
}

// middle stands for the events of a bucket. No event lasts less than nothing, and an open bucket counts as its start.
func middle(low, high float64) float64 {
	low = max(low, 0)
	if math.IsInf(high, 1) {
		return low
	}
	return (low + high) / 2
}

func number(value float64) string {
	return strconv.FormatFloat(value, 'g', -1, 64)
}
