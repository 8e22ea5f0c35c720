// SPDX-License-Identifier: Apache-2.0

// A server of OTLP profiles that answers as the first part of the path says, over HTTP/1.1 and HTTP/2 without TLS: what real servers and proxies do
// to a client. GET /counts tells how many whole requests came by mode. The standard library is all it needs.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

var (
	mutex  sync.Mutex
	counts = map[string]int{}
)

func inflate(body []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Multistream(false)
	return io.ReadAll(r)
}

// The message, unpacked; of gRPC out of its frame.
func message(r *http.Request, grpc bool) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	packed := r.Header.Get("Content-Encoding") == "gzip"
	if grpc {
		if len(body) < 5 || int(binary.BigEndian.Uint32(body[1:5])) != len(body)-5 {
			return nil, fmt.Errorf("bad frame of %d bytes", len(body))
		}
		packed = body[0] == 1
		if packed != (r.Header.Get("grpc-encoding") == "gzip") || r.Header.Get("TE") != "trailers" {
			return nil, fmt.Errorf("bad headers %v", r.Header)
		}
		body = body[5:]
	}
	if packed {
		return inflate(body)
	}
	return body, nil
}

// Behind the body, which must have been sent by then.
func status(w http.ResponseWriter, code, text string) {
	w.(http.Flusher).Flush()
	w.Header().Set(http.TrailerPrefix+"grpc-status", code)
	w.Header().Set(http.TrailerPrefix+"grpc-message", text)
}

func answerGrpc(w http.ResponseWriter, r *http.Request, mode string) {
	w.Header().Set("Content-Type", "application/grpc")
	empty := make([]byte, 5)
	switch mode {
	case "partial":
		w.Write([]byte("\x00\x00\x00\x00\x04\x0a\x02\x08\x01"))
		status(w, "0", "")
	case "compressed":
		w.Write([]byte("\x01\x00\x00\x00\x01x"))
		status(w, "0", "")
	case "refused":
		w.Header().Set("grpc-status", "3")
		w.Header().Set("grpc-message", "not%20wanted")
		w.WriteHeader(200)
	case "away":
		w.Header().Set("grpc-status", "14")
		w.WriteHeader(200)
	case "no status":
		w.Write(empty)
	case "for another":
		// A proxy goes by the host that a request is for.
		if r.Host != "another.example" {
			w.Header().Set("grpc-status", "3")
			w.WriteHeader(200)
			return
		}
		w.Write(empty)
		status(w, "0", "")
	default:
		w.Write(empty)
		status(w, "0", "")
	}
}

func answerHttp(w http.ResponseWriter, r *http.Request, mode string) {
	w.Header().Set("Content-Type", "application/x-protobuf")
	switch mode {
	case "partial":
		w.Write([]byte("\x0a\x02\x08\x01"))
	case "compressed":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write([]byte("x"))
		z.Close()
	case "refused":
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(400)
		w.Write([]byte("not wanted\n"))
	case "away":
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(503)
	case "no status":
		w.Header()["Content-Type"] = nil
	case "redirected":
		http.Redirect(w, r, "/well"+strings.TrimPrefix(r.URL.Path, "/redirected"), http.StatusTemporaryRedirect)
	}
}

func answer(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/counts" {
		mutex.Lock()
		defer mutex.Unlock()
		json.NewEncoder(w).Encode(counts)
		return
	}
	mode, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	mode = strings.ReplaceAll(mode, "_", " ")
	grpc := r.ProtoMajor == 2 && r.Header.Get("Content-Type") == "application/grpc"
	if !grpc && path != "v1development/profiles" {
		http.NotFound(w, r)
		return
	}
	m, err := message(r, grpc)
	if err != nil || len(m) == 0 || m[0] != 0x0a {
		fmt.Fprintln(os.Stderr, mode, "bad request:", err)
		http.Error(w, "bad request", 400)
		return
	}
	mutex.Lock()
	key := mode
	if grpc {
		key = "grpc " + mode
	}
	counts[key]++
	first := counts[key] == 1
	mutex.Unlock()
	mode, slow := strings.CutPrefix(mode, "slow ")
	if slow {
		time.Sleep(150 * time.Millisecond)
	}
	switch mode {
	case "hung":
		<-r.Context().Done()
		return
	case "reset":
		panic(http.ErrAbortHandler)
	case "a page":
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<html>log in</html>"))
		return
	case "away at first":
		if first {
			mode = "away"
		}
	}
	if grpc {
		answerGrpc(w, r, mode)
	} else {
		answerHttp(w, r, mode)
	}
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		panic(err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	server := http.Server{Handler: http.HandlerFunc(answer), Protocols: &protocols}
	fmt.Println("listening")
	panic(server.Serve(listener))
}
