// Package scaling decides how many pollers a mapping should have, and how fast each may take bytes.
//
// A [Scaler] is told once a second how things stand (a [Reading]) and answers with the wanted count and the reason for
// it (a [Decision]). A [Bucket] is the byte budget of one poller. Both are plain values: time comes in, nothing waits.
// Reading lag is the work of lag, starting and stopping pollers that of the controller, holding a poller to its budget
// that of the poller.
//
// The rule, in full:
//
//   - Wanted is the smallest count that takes what arrives with at most 80 % use, and also drains the lag within
//     targetDrainTime; what one poller can settle is measured (records settled per second of a fully used poller).
//   - Up: at once, at most doubling at each reading, but only if the pollers are what limits the mapping: their slots are over 80 % used, or their byte
//     budgets held them back. Where they do not (few partitions with work, a function that fails), more of them would
//     change nothing. Before anything was settled there is no measure; then records that wait for a slot double the count.
//   - Down: after 60 s under 60 % use, half of the surplus, and so on each minute. The surplus is
//     what exceeds the count that would be 70 % used.
//   - Taken back: a step up after which less was settled than with fewer pollers, by more than a tenth, once it has held
//     for 5 s, 20 invocations and twice as long as one takes. After that, steps go half of the way to the count that was
//     taken back, or a quarter up when that is 10 minutes ago, each is judged before the next, and each must gain
//     something. Where there is too little work, calls fail or partitions move, nothing is judged.
//   - A reading that is not valid changes nothing: a failed lag query is not a lag of 0.
//   - The count stays between minimum and maximum, and in Stream mode at most one poller per partition (AWS,
//     «Scaling of event source mappings for Kafka»: consumers never exceed partitions).
//
// The gaps between 60, 70 and 80 % keep it from flapping: after a step down the pollers are at most 70 % used, and only
// over 80 % is there a step up.
package scaling
