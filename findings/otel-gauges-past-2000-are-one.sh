#!/usr/bin/env bash
# Guess: a gauge that is recorded for each of 3,000 ports is exported as 3,000 points.
# Seen:  as 2,000: 1,999 ports keep their values, and the other 1,001 share one point without a port,
#        otel.metric.overflow=true, whose value is that of the port which was recorded last. No error is reported.
#        WithCardinalityLimit(0) exports all.
# With:  go.opentelemetry.io/otel/sdk/metric 1.47.0.
set -euo pipefail
modules=(go.opentelemetry.io/otel/sdk/metric@v1.47.0)

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
go mod init finding 2>/dev/null
go get "${modules[@]}" 2>/dev/null || { echo "needs Go and its module proxy"; exit 77; }

same() { # what, as seen, as known
  echo "$1: $2"
  [ "$2" = "$3" ] || { echo "CHANGED: it was $3"; exit 1; }
}

cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func export(options ...sdk.Option) {
	reader := sdk.NewManualReader()
	meter := sdk.NewMeterProvider(append(options, sdk.WithReader(reader))...).Meter("fabric")
	gauge, err := meter.Float64Gauge("utilisation")
	must(err)
	for port := range 3000 {
		utilisation := float64(port) / 10000
		gauge.Record(context.Background(), utilisation, metric.WithAttributes(attribute.Int("port", port)))
	}
	var all metricdata.ResourceMetrics
	must(reader.Collect(context.Background(), &all))
	points := all.ScopeMetrics[0].Metrics[0].Data.(metricdata.Gauge[float64]).DataPoints
	fmt.Print(len(points), " points")
	for _, point := range points {
		if !point.Attributes.HasValue("port") {
			fmt.Print(", ", point.Attributes.Encoded(attribute.DefaultEncoder()), " ", point.Value)
		}
	}
	fmt.Println()
}

func main() {
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { fmt.Println("error:", err) }))
	export()
	export(sdk.WithCardinalityLimit(0))
}
GO
go mod tidy 2>/dev/null
go build -o finding .
same "3000 ports, the last at 0.2999; without a limit" "$(./finding)" \
  "2000 points, otel.metric.overflow=true 0.2999
3000 points"
