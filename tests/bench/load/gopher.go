// SPDX-License-Identifier: Apache-2.0
// A goroutine ten calls deep, with a leaf that has no frame. usage: gopher SECONDS
package main

import (
	"os"
	"strconv"
	"time"
)

var sink uint64

//go:noinline
func leaf(x uint64) uint64 { return x*6364136223846793005 + 1 }

//go:noinline
func work(end time.Time) int {
	for time.Now().Before(end) {
		for i := 0; i < 20000; i++ {
			sink = leaf(sink)
		}
	}
	return 0
}

//go:noinline
func descend(level int, end time.Time) int {
	if level > 0 {
		return descend(level-1, end) + 1
	}
	return work(end)
}

func main() {
	seconds := 10
	if len(os.Args) > 1 {
		seconds, _ = strconv.Atoi(os.Args[1])
	}
	// The thread's CPU time is not to be had without cgo; alone in its thread, time on the clock is nearly the same.
	for i := 0; i < seconds*10; i++ {
		next := time.Now().Add(100 * time.Millisecond)
		descend(8, time.Now().Add(20*time.Millisecond))
		time.Sleep(time.Until(next))
	}
}
