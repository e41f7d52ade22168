// Package agentd is the command agent run: the agent of one or several hosts of this machine, with its
// keys, its socket and LLDP. Package hostagent implements the agent itself.
package agentd
