package filter

// pass scans a value that no pattern names anything of, as value does.
func (m *matcher) pass(i int) int {
	data := m.data
	if i >= len(data) {
		return over
	}
	switch data[i] {
	case '"':
		end, _ := stringEnd(data, i+1)
		if end < 0 {
			return over
		}
		return end + 1
	case '{':
		return m.passObject(i + 1)
	case '[':
		return m.passArray(i + 1)
	case 't':
		return wordEnd(data, i, "true")
	case 'f':
		return wordEnd(data, i, "false")
	case 'n':
		return wordEnd(data, i, "null")
	}
	return numberEnd(data, i)
}

func (m *matcher) passObject(i int) int {
	if m.depth++; m.depth > DepthMax {
		return over
	}
	data := m.data
	if i = space(data, i); i < len(data) && data[i] == '}' {
		m.depth--
		return i + 1
	}
	for i < len(data) && data[i] == '"' {
		if i, _ = stringEnd(data, i+1); i < 0 {
			return over
		}
		if i = space(data, i+1); i >= len(data) || data[i] != ':' {
			return over
		}
		if i = m.pass(space(data, i+1)); i < 0 {
			return over
		}
		if i = space(data, i); i >= len(data) {
			return over
		}
		switch data[i] {
		case ',':
			i = space(data, i+1)
		case '}':
			m.depth--
			return i + 1
		default:
			return over
		}
	}
	return over
}

func (m *matcher) passArray(i int) int {
	if m.depth++; m.depth > DepthMax {
		return over
	}
	data := m.data
	if i = space(data, i); i < len(data) && data[i] == ']' {
		m.depth--
		return i + 1
	}
	for {
		if i = m.pass(i); i < 0 {
			return over
		}
		if i = space(data, i); i >= len(data) {
			return over
		}
		switch data[i] {
		case ',':
			i = space(data, i+1)
		case ']':
			m.depth--
			return i + 1
		default:
			return over
		}
	}
}
