// Package console holds what commands share that talk to a user: output formats, exit statuses, terminals.
package console
