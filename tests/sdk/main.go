// SPDX-License-Identifier: Apache-2.0

// A service that is profiled by Pyroscope's own SDK. usage: sdk URL
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/grafana/pyroscope-go"
)

var kept [][]byte

//go:noinline
func burn(until time.Time) (n uint64) {
	for time.Now().Before(until) {
		for i := uint64(0); i < 1000; i++ {
			n += i * n
		}
	}
	return n
}

//go:noinline
func allocate() {
	for i := 0; i < 100; i++ {
		kept = append(kept, make([]byte, 64<<10))
	}
	if len(kept) > 1000 {
		kept = nil
	}
}

//go:noinline
func contend() {
	var lock sync.Mutex
	var wait sync.WaitGroup

	for i := 0; i < 4; i++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for k := 0; k < 20; k++ {
				lock.Lock()
				time.Sleep(time.Millisecond)
				lock.Unlock()
			}
		}()
	}
	wait.Wait()
}

func main() {
	runtime.SetMutexProfileFraction(1)
	runtime.SetBlockProfileRate(1)
	_, err := pyroscope.Start(pyroscope.Config{
		ApplicationName: "sdk.example",
		ServerAddress:   os.Args[1],
		Tags:            map[string]string{"region": "north"},
		UploadRate:      time.Second,
		ProfileTypes: []pyroscope.ProfileType{
			pyroscope.ProfileCPU, pyroscope.ProfileAllocObjects, pyroscope.ProfileAllocSpace,
			pyroscope.ProfileInuseObjects, pyroscope.ProfileInuseSpace, pyroscope.ProfileGoroutines,
			pyroscope.ProfileMutexCount, pyroscope.ProfileMutexDuration,
			pyroscope.ProfileBlockCount, pyroscope.ProfileBlockDuration,
		},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("running")
	for {
		burn(time.Now().Add(50 * time.Millisecond))
		allocate()
		contend()
	}
}
