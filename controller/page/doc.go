// Package page is the page of a running controller, for a browser on the same machine: racks around the
// optical switch, circuits, links, jobs, switches and replicas as they are now, and buttons for what
// the testbed can do.
//
// A Source says what there is to show, and Actions what can be done. A Server serves both to browsers
// that came with a ticket, which is good once. The page itself is in static: plain modules that a
// browser reads as they are, without a build step, and the libraries in static/vendor.
package page
