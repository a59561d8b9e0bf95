package mapping

import (
	"errors"
	"fmt"
)

// State is the state of a mapping, in AWS's words (AWS, EventSourceMappingConfiguration, State). The way between them:
//
//	create, enabled    gone ──▶ Creating ──▶ Enabled
//	create, disabled   gone ──▶ Creating ──▶ Disabled
//	disable            Enabled ──▶ Disabling ──▶ Disabled
//	enable             Disabled ──▶ Enabling ──▶ Enabled
//	update             Enabled ──▶ Updating ──▶ Enabled, Disabled ──▶ Updating ──▶ Disabled
//	delete             Enabled, Disabled ──▶ Deleting ──▶ gone
//
// Enabled and Disabled are settled: requests are taken in them alone. The others are left by [Done] alone, when what the
// request asked for has been carried out.
type State string

// The states.
const (
	// Gone is the state of a mapping that does not exist: before it is created, and after Deleting is done. It is the zero
	// value; AWS has no word for it (a Get answers 404).
	Gone State = ""
	// Creating is entered from Gone by Create or CreateDisabled, and left by Done for Enabled or Disabled as created.
	Creating State = "Creating"
	// Enabling is entered from Disabled by Enable, and left by Done for Enabled.
	Enabling State = "Enabling"
	// Enabled is entered by Done from Creating, Enabling or Updating. It is left by Disable for Disabling, by Update or Enable
	// for Updating, by Delete for Deleting.
	Enabled State = "Enabled"
	// Disabling is entered from Enabled by Disable, and left by Done for Disabled.
	Disabling State = "Disabling"
	// Disabled is entered by Done from Creating, Disabling or Updating. It is left by Enable for Enabling, by Update or Disable
	// for Updating, by Delete for Deleting.
	Disabled State = "Disabled"
	// Updating is entered from Enabled or Disabled by Update, or by Enable or Disable where that is so already, and left by
	// Done for the state that it came from.
	Updating State = "Updating"
	// Deleting is entered from Enabled or Disabled by Delete, and left by Done for Gone.
	Deleting State = "Deleting"
)

// String returns AWS's word, and «Gone» for Gone.
func (s State) String() string {
	if s == Gone {
		return "Gone"
	}
	return string(s)
}

// Settled says whether requests are taken in the state: Enabled and Disabled.
func (s State) Settled() bool { return s == Enabled || s == Disabled }

// Event is what moves a mapping from one state to the next: a request, or that the last one has been carried out.
type Event int

// The events.
const (
	// Create and CreateDisabled make a mapping that is to run, or not.
	Create Event = iota + 1
	CreateDisabled
	// Enable, Disable, Update and Delete are requests to a mapping.
	Enable
	Disable
	Update
	Delete
	// Done says that what the last request asked for has been carried out.
	Done
)

// String returns the event's name.
func (e Event) String() string {
	names := [...]string{"?", "Create", "CreateDisabled", "Enable", "Disable", "Update", "Delete", "Done"}
	if e < 0 || int(e) >= len(names) {
		return names[0]
	}
	return names[e]
}

// Status is a state and what it leads to. The zero value is a mapping that does not exist.
type Status struct {
	State State
	// Running says whether the mapping is to run when its request is done. In Enabled it is true, in Disabled and Gone false.
	Running bool
}

// The kinds of refusals of [Step].
var (
	// ErrInUse refuses a request while another is carried out (AWS, ResourceInUseException). Trying again later helps.
	ErrInUse = errors.New("the event source mapping is in use")
	// ErrNotFound refuses a request to a mapping that does not exist (AWS, ResourceNotFoundException).
	ErrNotFound = errors.New("the event source mapping does not exist")
	// ErrExists refuses to create a mapping that exists (AWS, ResourceConflictException).
	ErrExists = errors.New("the event source mapping exists")
	// ErrNothingToDo refuses Done in a state in which nothing is being carried out: a mistake of the caller.
	ErrNothingToDo = errors.New("nothing is being carried out")
)

// Step returns the status that follows s on e. It refuses with an error that is one of ErrInUse, ErrNotFound, ErrExists and
// ErrNothingToDo, and the status is then the one it was.
func Step(s Status, e Event) (Status, error) {
	if e == Done {
		return done(s)
	}
	if err := refuse(s.State, e); err != nil {
		return s, fmt.Errorf("%s in state %s: %w", e, s.State, err)
	}
	switch e {
	case Create, CreateDisabled:
		return Status{Creating, e == Create}, nil
	case Enable:
		if s.State == Disabled {
			return Status{Enabling, true}, nil
		}
	case Disable:
		if s.State == Enabled {
			return Status{Disabling, false}, nil
		}
	case Delete:
		return Status{Deleting, false}, nil
	}
	return Status{Updating, s.Running}, nil
}

// refuse says why a request is not taken.
func refuse(s State, e Event) error {
	creates := e == Create || e == CreateDisabled
	switch {
	case creates && s != Gone:
		return ErrExists
	case !creates && s == Gone:
		return ErrNotFound
	case !creates && !s.Settled():
		return ErrInUse
	}
	return nil
}

// done ends what is being carried out.
func done(s Status) (Status, error) {
	switch s.State {
	case Deleting:
		return Status{}, nil
	case Creating, Enabling, Disabling, Updating:
		if s.Running {
			return Status{Enabled, true}, nil
		}
		return Status{Disabled, false}, nil
	}
	return s, fmt.Errorf("%s in state %s: %w", Done, s.State, ErrNothingToDo)
}
