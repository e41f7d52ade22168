// Package agentd is the command agent run: the agent of one or several hosts of this machine, with its keys, its socket
// and LLDP. What an agent does is package hostagent's.
package agentd
