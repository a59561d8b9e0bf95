package filter

import (
	"math"
	"strconv"
)

const maxFloat = math.MaxFloat64

var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// parseNumber reads a JSON number as a 64-bit float. ok says whether it is comparable: whether the shortest decimal that reads
// back as the float has the value that was written. 0.1 is, 9007199254740993 is not.
func parseNumber(text []byte) (f float64, ok bool) {
	// Up to 15 digits without an exponent are exact: two floats of which one is divided by a power of ten that is a float too.
	digits, point, mantissa := 0, -1, int64(0)
	i := 0
	if len(text) > 0 && text[0] == '-' {
		i = 1
	}
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' {
			point = digits
			continue
		}
		if c < '0' || c > '9' || digits == 15 {
			return parseLongNumber(text)
		}
		mantissa = mantissa*10 + int64(c-'0')
		digits++
	}
	f = float64(mantissa)
	if point >= 0 {
		f /= powersOfTen[digits-point]
	}
	if text[0] == '-' {
		f = -f
	}
	return f, true
}

// decimal is a number's value: 0.digits × 10^exponent, without zeros at either end; no digits are zero.
type decimal struct {
	negative bool
	digits   [17]byte
	n        int
	exponent int
}

// exponentMax bounds an exponent that is read; what is beyond is beyond every float as well, and a number's digits, of which
// a document may hold millions, do not bring it back.
const exponentMax = 1 << 30

// readDecimal reads a number as written. It fails with more than 17 digits, which no shortest decimal of a float has.
func readDecimal(text []byte) (d decimal, ok bool) {
	i := 0
	if text[0] == '-' {
		d.negative, i = true, 1
	}
	zeros, point := 0, false // zeros: those seen since the last other digit
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		switch {
		case c != '0':
			if d.n == 0 {
				zeros = 0
			}
			if d.n+zeros >= len(d.digits) {
				return d, false
			}
			for ; zeros > 0; zeros-- {
				d.digits[d.n] = '0'
				d.n++
			}
			d.digits[d.n] = c
			d.n++
		default:
			zeros++
		}
		// The exponent counts digits before the point from the first other than 0, and zeros behind it before that digit.
		started := d.n > 0
		switch {
		case started && !point:
			d.exponent++
		case !started && point:
			d.exponent--
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		d.exponent += readExponent(text[i+1:])
	}
	return d, true
}

func readExponent(text []byte) int {
	negative := false
	if text[0] == '-' || text[0] == '+' {
		negative, text = text[0] == '-', text[1:]
	}
	e := 0
	for _, c := range text {
		if e = e*10 + int(c-'0'); e > exponentMax {
			e = exponentMax
			break
		}
	}
	if negative {
		return -e
	}
	return e
}

func parseLongNumber(text []byte) (float64, bool) {
	d, ok := readDecimal(text)
	if !ok {
		return 0, false
	}
	if d.n == 0 {
		return 0, true
	}
	if d.exponent > 400 || d.exponent < -400 {
		return 0, false
	}
	var buf [32]byte
	short := buf[:0]
	if d.negative {
		short = append(short, '-')
	}
	short = append(append(short, '.'), d.digits[:d.n]...)
	short = strconv.AppendInt(append(short, 'e'), int64(d.exponent), 10)
	f, err := strconv.ParseFloat(string(short), 64)
	if err != nil {
		return 0, false
	}
	var again [32]byte
	back, _ := readDecimal(strconv.AppendFloat(again[:0], f, 'e', -1, 64))
	return f, back == d
}

// nearest returns the comparable number next to one that is not.
func nearest(text string) string {
	f, _ := strconv.ParseFloat(text, 64)
	f = min(max(f, -maxFloat), maxFloat)
	return strconv.FormatFloat(f, 'g', -1, 64)
}
