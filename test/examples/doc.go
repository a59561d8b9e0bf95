// Package examples runs the examples of the repository as their READMEs say: it takes the commands from the README, and
// only puts other addresses in.
package examples
