// Package guideline is the arithmetic of Co-scheduler (Li and Shen, "Co-Scheduler: A Coflow-Aware
// Data-Parallel Job Scheduler in Hybrid Electrical/Optical Datacenter Networks", ToN 2022): on how many
// racks a job's input, maps and reduces should be, how its reduces are to be spread, and which racks
// take them. It is pure, and uses neither a fabric nor a queue of jobs: a policy calls it, and places
// tasks.
//
// If the document is silent or contradicts itself, a comment states what is done here.
package guideline
