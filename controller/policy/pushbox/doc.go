// Package pushbox decides which waiting task takes which free slot, as PushBox does (Tian et al.,
// "PushBox: Making Use of Every Bit of Time to Accelerate Completion of Data-Parallel Jobs", TPDS
// 2022), and as the schedulers do that it is compared with: Hadoop's, ShuffleWatcher and NEAT. A task
// receives its input over the network of its machine, and then computes.
//
// It knows no view and no clock: package place reads both, and has the answers carried out. Decision
// 0100 says where it leaves the document.
package pushbox
