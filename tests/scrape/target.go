// SPDX-License-Identifier: Apache-2.0

// A Go service with net/http/pprof, which does on request what its profiles then have to say, and answers as no service should.
//
//	target ADDRESS        prints "listening"; with another word it takes profiles of all that it does, and burns CPU
//
//	/debug/pprof/...      Go's own
//	/work?n=N             N allocations of 1 KiB that stay, N waits for a mutex, N waits for a channel, N goroutines that stay; answers when done
//	/seen/NAME            a profile of goroutines; its moment is noted under NAME
//	/moments              JSON: NAME → moments in Unix seconds
//	/hostile/KIND         see below
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	kept    = make([][]byte, 0, 1<<20) // so that only what is kept is allocated by allocate()
	contest sync.Mutex
	forever = make(chan bool)
	burned  float64

	lock    sync.Mutex
	moments = map[string][]float64{}
)

//go:noinline
func allocate(n int) {
	for i := 0; i < n; i++ {
		kept = append(kept, make([]byte, 1024))
	}
}

//go:noinline
func contend(n int) {
	for i := 0; i < n; i++ {
		contest.Lock()
		waiting := make(chan bool)
		go func() {
			waiting <- true
			contest.Lock()
			contest.Unlock()
			waiting <- true
		}()
		<-waiting
		time.Sleep(2 * time.Millisecond)
		contest.Unlock()
		<-waiting
	}
}

//go:noinline
func receive(n int) {
	for i := 0; i < n; i++ {
		answer := make(chan bool)
		go func() {
			time.Sleep(time.Millisecond)
			answer <- true
		}()
		<-answer
	}
}

//go:noinline
func park() {
	<-forever
}

//go:noinline
func burn() {
	for {
		for i := 0; i < 1000000; i++ {
			burned += float64(i)
		}
		time.Sleep(time.Millisecond)
	}
}

// Two collections: a heap profile is that of the last but one.
func work(w http.ResponseWriter, r *http.Request) {
	n, _ := strconv.Atoi(r.FormValue("n"))
	allocate(n)
	contend(n)
	receive(n)
	for i := 0; i < n; i++ {
		go park()
	}
	runtime.GC()
	runtime.GC()
	fmt.Fprintln(w, n)
}

func seen(w http.ResponseWriter, r *http.Request) {
	lock.Lock()
	name := strings.TrimPrefix(r.URL.Path, "/seen/")
	moments[name] = append(moments[name], float64(time.Now().UnixNano())/1e9)
	lock.Unlock()
	bytesFor(w)
	pprof.Lookup("goroutine").WriteTo(w, 0)
}

func told(w http.ResponseWriter, _ *http.Request) {
	lock.Lock()
	defer lock.Unlock()
	json.NewEncoder(w).Encode(moments)
}

// 64 KiB that unpack to 64 MiB.
var bomb = sync.OnceValue(func() []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	for i, block := 0, make([]byte, 1<<20); i < 64; i++ {
		zip.Write(block)
	}
	zip.Close()
	return out.Bytes()
})

func bytesFor(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/octet-stream")
}

var hostile = map[string]http.HandlerFunc{
	"endless": func(w http.ResponseWriter, _ *http.Request) {
		bytesFor(w)
		for block := make([]byte, 1<<16); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	},
	"hung": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	"slow": func(w http.ResponseWriter, r *http.Request) {
		bytesFor(w)
		for r.Context().Err() == nil {
			w.Write([]byte{0})
			w.(http.Flusher).Flush()
			time.Sleep(50 * time.Millisecond)
		}
	},
	"page": func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!DOCTYPE html><title>no profile</title>")
	},
	"page_as_bytes": func(w http.ResponseWriter, _ *http.Request) {
		bytesFor(w)
		fmt.Fprint(w, "<!DOCTYPE html><title>no profile</title>")
	},
	"around": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/hostile/around", http.StatusFound) },
	"bomb": func(w http.ResponseWriter, _ *http.Request) {
		bytesFor(w)
		w.Write(bomb())
	},
	"forged": func(w http.ResponseWriter, _ *http.Request) {
		bytesFor(w)
		zip := gzip.NewWriter(w)
		zip.Write([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3})
		zip.Close()
	},
	"cut": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100000")
		bytesFor(w)
		w.Write([]byte{0x1f, 0x8b})
		panic(http.ErrAbortHandler)
	},
	"in_use": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Could not enable CPU profiling: cpu profiling already in use", http.StatusInternalServerError)
	},
}

func main() {
	if len(os.Args) > 2 {
		runtime.MemProfileRate = 1
		runtime.SetMutexProfileFraction(1)
		runtime.SetBlockProfileRate(1)
		go burn()
	}
	http.HandleFunc("/work", work)
	http.HandleFunc("/seen/", seen)
	http.HandleFunc("/moments", told)
	for kind, handler := range hostile {
		http.HandleFunc("/hostile/"+kind, handler)
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	fmt.Println("listening")
	panic(http.Serve(listener, nil))
}
