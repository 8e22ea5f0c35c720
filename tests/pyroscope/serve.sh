#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run the real Pyroscope in the foreground, reachable from this machine only.
# usage: serve.sh PYROSCOPE PORT DATA_DIR [FLAG…]
# Takes three ports from PORT on: HTTP, gRPC, memberlist. GET /ready answers 200 after a few seconds.
set -eu
program=$(readlink -f "$1")
http=$2
data=$3
shift 3
grpc=$((http + 1))
gossip=$((http + 2))

# Every ring member announces an address of its own, and would pick one of a network card.
loopback() {
	for flag in server.http-listen-address server.grpc-listen-address memberlist.bind-addr memberlist.advertise-addr \
		compactor.ring.instance-addr distributor.ring.instance-addr ingester.lifecycler.addr \
		overrides-exporter.ring.instance-addr query-frontend.instance-addr query-scheduler.ring.instance-addr \
		store-gateway.sharding-ring.instance-addr; do
		printf -- '-%s=127.0.0.1 ' "$flag"
	done
}

mkdir -p "$data"
cd "$data"
# shellcheck disable=SC2046 # flags without blanks
exec "$program" $(loopback) \
	-target=all -log.level=warn \
	-server.http-listen-port="$http" -server.grpc-listen-port="$grpc" -memberlist.bind-port="$gossip" \
	-ingester.min-ready-duration=0s \
	-self-profiling.disable-push=true -usage-stats.enabled=false "$@"
