package inflight

import "container/heap"

// list is an intrusive FIFO of windows.
type list struct {
	front, back *window
	len         int
	records     int
	bytes       int64
}

func (l *list) push(w *window) {
	w.list, w.prev, w.succ = l, l.back, nil
	if l.back != nil {
		l.back.succ = w
	} else {
		l.front = w
	}
	l.back = w
	l.len++
	l.records += w.pending
	l.bytes += w.pendingBytes
}

// remove takes the window out; its counts must be those that it was pushed or grown with.
func (l *list) remove(w *window) {
	if w.prev != nil {
		w.prev.succ = w.succ
	} else {
		l.front = w.succ
	}
	if w.succ != nil {
		w.succ.prev = w.prev
	} else {
		l.back = w.prev
	}
	w.list, w.prev, w.succ = nil, nil, nil
	l.len--
	l.records -= w.pending
	l.bytes -= w.pendingBytes
}

// waiting orders windows by the time of their next try.
type waiting []*window

func (h waiting) Len() int           { return len(h) }
func (h waiting) Less(i, j int) bool { return h[i].notBefore().Before(h[j].notBefore()) }
func (h waiting) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heapIndex, h[j].heapIndex = i, j
}

// Push and Pop are container/heap's; use add and take.
func (h *waiting) Push(x any) {
	w := x.(*window)
	w.heapIndex = len(*h)
	*h = append(*h, w)
}

// Pop removes the last window, for container/heap.
func (h *waiting) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	w.heapIndex = -1
	return w
}

func (h *waiting) add(w *window) { heap.Push(h, w) }

func (h *waiting) remove(w *window) {
	if w.heapIndex >= 0 {
		heap.Remove(h, w.heapIndex)
	}
}
