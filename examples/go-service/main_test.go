package main

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"
)

func get(t *testing.T, handler http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answer
}

// value is the sample of one series on the metrics page; its name includes the labels.
func value(t *testing.T, page, series string) float64 {
	t.Helper()
	for line := range strings.Lines(page) {
		if text, found := strings.CutPrefix(line, series+" "); found {
			number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil {
				t.Fatal(err)
			}
			return number
		}
	}
	t.Fatalf("no series %s on the page", series)
	return 0
}

func TestHistogramsAreCumulativeAndClosed(t *testing.T) {
	page := get(t, newHandler(2), "/metrics").Body.String()
	for _, name := range []string{"go_sched_latencies_seconds", "go_gc_pauses_seconds"} {
		last, edge, buckets := 0.0, math.Inf(-1), 0
		for line := range strings.Lines(page) {
			rest, found := strings.CutPrefix(line, name+`_bucket{le="`)
			if !found {
				continue
			}
			le, count, _ := strings.Cut(strings.TrimSpace(rest), `"} `)
			upper, err1 := strconv.ParseFloat(le, 64)
			events, err2 := strconv.ParseFloat(count, 64)
			if err1 != nil || err2 != nil || upper <= edge || events < last {
				t.Fatalf("%s: bucket %q after edge %v, count %v", name, line, edge, last)
			}
			last, edge, buckets = events, upper, buckets+1
		}
		if !math.IsInf(edge, 1) || buckets < 20 || buckets > 30 {
			t.Errorf("%s: %d buckets up to %v", name, buckets, edge)
		}
		if count := value(t, page, name+"_count"); count != last {
			t.Errorf("%s: count %v, last bucket %v", name, count, last)
		}
		if sum := value(t, page, name+"_sum"); sum < 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
			t.Errorf("%s: sum %v", name, sum)
		}
	}
}

func TestFactorTenKeepsTheBoundariesOfClientGolang(t *testing.T) {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	kept := boundaries(sample[0].Value.Float64Histogram().Buckets, 10)
	want := []float64{6.4e-08, 6.4e-07, 7.168e-06, 8.192e-05, 0.000917504, 0.01048576, 0.117440512}
	if len(kept) != len(want) {
		t.Fatalf("kept %v", kept)
	}
	for i := range want {
		if math.Abs(kept[i]/want[i]-1) > 1e-9 {
			t.Errorf("boundary %d is %v, want %v", i, kept[i], want[i])
		}
	}
}

func TestCountsStayExactWhenBucketsAreMerged(t *testing.T) {
	h := &metrics.Float64Histogram{Counts: []uint64{1, 2, 3, 4}, Buckets: []float64{math.Inf(-1), 0.25, 0.5, 1, math.Inf(1)}}
	var page bytes.Buffer
	histogram(&page, "x", "A test.", h, 2)
	for series, want := range map[string]float64{
		`x_bucket{le="0.24999999999999997"}`: 1,
		`x_bucket{le="0.49999999999999994"}`: 3,
		`x_bucket{le="0.9999999999999999"}`:  6,
		`x_bucket{le="+Inf"}`:                10,
		"x_count":                            10,
		"x_sum":                              1*0.125 + 2*0.375 + 3*0.75 + 4*1,
	} {
		if got := value(t, page.String(), series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
}

func TestWorkHoldsGoroutinesAndLetsThemGo(t *testing.T) {
	handler := newHandler(2)
	goroutines := func() float64 { return value(t, get(t, handler, "/metrics").Body.String(), "go_goroutines") }
	before := goroutines()
	if answer := get(t, handler, "/work?n=200&ms=300&spin=1"); answer.Code != http.StatusAccepted {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	if now := goroutines(); now < before+200 {
		t.Fatalf("%v goroutines after %v and 200 more", now, before)
	}
	for deadline := time.Now().Add(10 * time.Second); goroutines() >= before+200; {
		if time.Now().After(deadline) {
			t.Fatal("the goroutines never ended")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestWorkRefusesWhatIsOutOfBounds(t *testing.T) {
	for _, query := range []string{"", "?n=5", "?n=0&ms=10", "?n=10001&ms=10", "?n=1&ms=600001", "?n=x&ms=1", "?n=1&ms=1&spin=-1"} {
		if answer := get(t, newHandler(2), "/work"+query); answer.Code != http.StatusBadRequest {
			t.Errorf("/work%s: status %d", query, answer.Code)
		}
	}
	full := &workload{}
	full.held.Store(maxHeld)
	if answer := get(t, full, "/work?n=1&ms=1"); answer.Code != http.StatusTooManyRequests {
		t.Errorf("a full workload answers %d", answer.Code)
	}
}

func TestGoroutinesArePublishedAsVariable(t *testing.T) {
	var vars struct{ Goroutines float64 }
	answer := get(t, newHandler(2), "/debug/vars")
	if err := json.Unmarshal(answer.Body.Bytes(), &vars); err != nil || vars.Goroutines < 1 {
		t.Fatalf("goroutines %v, %v", vars.Goroutines, err)
	}
}
