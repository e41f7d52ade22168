// Package sunflowsim schedules circuits by the rules of Sunflow's own simulator (Huang, Sun, Ng:
// Sunflow: efficient optical circuit scheduling for coflows, CoNEXT 2016;
// github.com/sunnyxhuang/sunflow), and sets rates by them, so that figures compare with that
// simulator's coflow by coflow: of Sunflow, Solstice and Edmonds' matching on circuits, and of Varys
// and Aalo on packets. Each algorithm documents its rules. If these are not the papers', use packages
// circuits and share instead.
//
// Parts remember their orders, as that simulator does: a part that is made in mid-run takes no circuit
// as lit. They are for the simulator alone, on a crossbar.
package sunflowsim
