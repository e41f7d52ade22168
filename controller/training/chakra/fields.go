package chakra

// Field numbers of the messages of et_def.proto.
const (
	metadataVersion   = 1
	metadataAttribute = 2

	nodeID        = 1
	nodeName      = 2
	nodeType      = 3
	nodeControl   = 4 // packed ids of nodes that it waits for
	nodeData      = 5
	nodeDuration  = 7 // µs
	nodeInputs    = 8
	nodeAttribute = 10

	attributeName     = 1
	attributeDouble   = 3
	attributeFloat    = 5
	attributeInt32    = 7
	attributeInt64    = 9
	attributeUint32   = 11
	attributeUint64   = 13
	attributeSint32   = 15
	attributeSint64   = 17
	attributeFixed32  = 19
	attributeFixed64  = 21
	attributeSfixed32 = 23
	attributeSfixed64 = 25
	attributeBool     = 27
	attributeBools    = 28
	attributeString   = 29
	attributeBytes    = 31

	listValues  = 1
	inputValues = 1
)

// Values of a node's type.
const (
	typeInvalid = iota
	typeMetadata
	typeMemLoad
	typeMemStore
	typeCompute
	typeSend
	typeReceive
	typeCollective
)

// Values of the attribute comm_type of a collective.
const (
	commAllReduce          = 0
	commAllGather          = 2
	commBroadcast          = 5
	commAllToAll           = 6
	commReduceScatter      = 7
	commReduceScatterBlock = 8
	commBarrier            = 9
)
