# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
# distutils: language = c++
"""The loops that are worth a compiler. What calls them says what they give, and has a slower way without them."""

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.ref cimport Py_DECREF, PyObject
from libc.stdlib cimport abs, atoi
from libc.string cimport memcmp, memcpy, memset

cdef extern from "Python.h":
    int shrink "_PyBytes_Resize"(PyObject** made, Py_ssize_t size) except -1
    PyObject* new_bytes "PyBytes_FromStringAndSize"(const char* text, Py_ssize_t size) except NULL

cdef extern from "<charconv>" namespace "std" nogil:
    cdef enum errc "std::errc":
        pass
    cdef struct from_chars_result:
        const char* ptr
        errc ec
    from_chars_result from_chars(const char* first, const char* last, double& value)
    cdef struct to_chars_result:
        char* ptr
        errc ec
    cdef enum class chars_format:
        scientific
    to_chars_result to_chars(char* first, char* last, double value, chars_format form)
    to_chars_result to_chars(char* first, char* last, float value, chars_format form)
    to_chars_result to_chars(char* first, char* last, long long value)

cdef extern from "<cmath>" namespace "std" nogil:
    bint isfinite(double value)

ctypedef unsigned long long uint64

cdef enum:
    BLANK = 32
    LINE_END = 10
    HASH = 35
    KNOWN = 1024  # numbers whose digits are kept: ranks give few different scores
    WIDEST = 32  # bytes of a number
    DIGIT = 11  # bits that a pass of the sort looks at: so many counters stay in the nearest cache


cdef inline Py_ssize_t column(const char* data, Py_ssize_t at) noexcept nogil:
    """The end of the column that begins at ``at``: the next byte that is a blank or below."""
    while <unsigned char>data[at] > BLANK:
        at += 1
    return at


cdef inline Py_ssize_t column_like(
    const char* data, Py_ssize_t at, Py_ssize_t stop, Py_ssize_t known, Py_ssize_t size
) noexcept nogil:
    """``column``, quick where the text is that of the column at ``known``, of ``size`` bytes."""
    if size and at + size < stop and memcmp(data + at, data + known, size + 1) == 0:
        return at + size
    return column(data, at)


def scan(
    bytes raw,
    bint comments,
    long long[::1] starts,
    long long[::1] sizes,
    double[::1] scores,
    unsigned char[::1] begins,
    uint64[::1] ranks,
):
    """Fill the columns of a run in the common form, one entry a line feed (run_columns); False if a line is not of it."""
    cdef const char* data = raw
    cdef Py_ssize_t n = len(raw), at = 0, end, rows = 0
    cdef Py_ssize_t qid = 0, qid_size = 0, second = 0, second_size = 0, tag = 0, tag_size = 0
    cdef bint plain = not n or data[n - 1] == LINE_END
    cdef uint64 rank
    cdef double score = 0
    cdef from_chars_result read
    with nogil:
        while plain and at < n:
            plain = False
            if comments and data[at] == HASH:
                break
            end = column_like(data, at, n, qid, qid_size)
            if end == at or data[end] != BLANK:
                break
            begins[rows] = end - at != qid_size or memcmp(data + at, data + qid, qid_size) != 0
            qid, qid_size = at, end - at

            at = end + 1
            end = column_like(data, at, n, second, second_size)
            if end == at or data[end] != BLANK:
                break
            second, second_size = at, end - at

            at = end + 1
            end = column(data, at)
            if end == at or data[end] != BLANK:
                break
            starts[rows], sizes[rows] = at, end - at

            at = end + 1
            end = at
            rank = 0
            while <unsigned char>data[end] > BLANK:
                rank = rank << 8 | <unsigned char>data[end]
                end += 1
            if end == at or data[end] != BLANK:
                break
            ranks[rows] = rank if end - at <= 8 else 0

            at = end + 1
            read = from_chars(data + at, data + n, score)
            if <int>read.ec != 0 or read.ptr[0] != BLANK or not isfinite(score):
                break
            scores[rows] = score

            at = read.ptr - data + 1
            end = column_like(data, at, n, tag, tag_size)
            if end == at or data[end] != LINE_END:
                break
            tag, tag_size = at, end - at

            at = end + 1
            rows += 1
            plain = True
    return plain


def join(bytes raw, const long long[::1] starts, const long long[::1] sizes, unsigned char[::1] lines):
    """Copy pieces of ``raw`` one behind the other, a line feed after each."""
    cdef const char* data = raw
    cdef Py_ssize_t at = 0, i
    with nogil:
        for i in range(starts.shape[0]):
            memcpy(&lines[at], data + starts[i], sizes[i])
            at += sizes[i]
            lines[at] = LINE_END
            at += 1


cdef inline char* put_number(char* at, double value, bint single) noexcept nogil:
    """Write the fewest digits that read back as ``value``, laid out as polars does."""
    cdef char[40] shortest
    cdef char* end
    cdef char* digits = shortest
    cdef int most, least, point, count
    if single:
        end = to_chars(shortest, shortest + 40, <float>value, chars_format.scientific).ptr
        most, least = 13, -6
    else:
        end = to_chars(shortest, shortest + 40, value, chars_format.scientific).ptr
        most, least = 16, -5
    end[0] = 0
    if digits[0] == b"-":
        at[0] = b"-"
        at += 1
        digits += 1
    # d[.ddd]e±dd: bring the digits together, and find where the point is among them
    count = end - digits
    while digits[count] != b"e":
        count -= 1
    point = atoi(digits + count + 1) + 1
    if count > 1:
        digits[1] = digits[0]
        digits += 1
        count -= 1
    if least < point <= 0:
        at[0] = b"0"
        at[1] = b"."
        memset(at + 2, b"0", -point)
        memcpy(at + 2 - point, digits, count)
        return at + 2 - point + count
    if 0 < point <= most:
        if count <= point:
            memcpy(at, digits, count)
            memset(at + count, b"0", point - count)
            at[point] = b"."
            at[point + 1] = b"0"
            return at + point + 2
        memcpy(at, digits, point)
        at[point] = b"."
        memcpy(at + point + 1, digits + point, count - point)
        return at + count + 1
    at[0] = digits[0]
    at += 1
    if count > 1:
        at[0] = b"."
        memcpy(at + 1, digits + 1, count - 1)
        at += count
    point -= 1
    at[0] = b"e"
    at[1] = b"-" if point < 0 else b"+"
    return to_chars(at + 2, at + 22, <long long>abs(point)).ptr


cdef struct Known:
    double[KNOWN] values
    char[KNOWN][WIDEST] texts
    unsigned char[KNOWN] sizes


cdef inline char* put_known(char* at, double value, bint single, Known* known) noexcept nogil:
    """``put_number``; WIDEST bytes must be free."""
    cdef uint64 bits
    cdef Py_ssize_t place
    memcpy(&bits, &value, sizeof(bits))
    place = (bits * <uint64>0x9E3779B97F4A7C15) >> 54
    # the bits, not the values, are compared: 0 and -0 are written differently
    if not known.sizes[place] or memcmp(&known.values[place], &value, sizeof(value)):
        known.values[place] = value
        known.sizes[place] = put_number(known.texts[place], value, single) - known.texts[place]
    memcpy(at, known.texts[place], WIDEST)
    return at + known.sizes[place]


def run_lines(
    bytes heads,
    const long long[::1] head_starts,
    const long long[::1] offsets,
    const int[::1] docs,
    bytes docnos,
    const long long[::1] docno_starts,
    const double[::1] scores,
    bint single,
    bytes tail,
):
    """Write the lines of a run: the head of the query, docno, rank, score, tail."""
    cdef const char* head
    cdef const char* docno = docnos
    cdef const char* last = tail
    cdef char* start
    cdef char* at
    cdef Py_ssize_t query, row, head_size, size, room = 0, tail_size = len(tail)
    cdef PyObject* lines
    cdef Known known
    cdef object made
    memset(known.sizes, 0, sizeof(known.sizes))
    with nogil:  # how much room there must be: rank, score and blanks take less than 56 bytes
        for query in range(offsets.shape[0] - 1):
            head_size = head_starts[query + 1] - head_starts[query]
            room += (offsets[query + 1] - offsets[query]) * (head_size + tail_size + 56)
        for row in range(docs.shape[0]):
            room += docno_starts[docs[row] + 1] - docno_starts[docs[row]]
    lines = new_bytes(NULL, room)
    start = at = PyBytes_AS_STRING(<object>lines)
    head = heads
    with nogil:
        for query in range(offsets.shape[0] - 1):
            head_size = head_starts[query + 1] - head_starts[query] - 1
            for row in range(offsets[query], offsets[query + 1]):
                memcpy(at, head, head_size)
                at += head_size
                at[0] = BLANK
                size = docno_starts[docs[row] + 1] - docno_starts[docs[row]] - 1
                memcpy(at + 1, docno + docno_starts[docs[row]], size)
                at += size + 1
                at[0] = BLANK
                at = to_chars(at + 1, at + 21, <long long>(row - offsets[query] + 1)).ptr
                at[0] = BLANK
                at = put_known(at + 1, scores[row], single, &known)
                memcpy(at, last, tail_size)
                at += tail_size
            head += head_size + 1
    shrink(&lines, at - start)
    made = <object>lines
    Py_DECREF(made)  # Cython has taken a reference of its own
    return made


def radix_sort(uint64[::1] keys, uint64[::1] spare, int low, int high):
    """Sort by the bits from ``low`` up to ``high``, in place and stable; ``spare`` is as long and is overwritten."""
    cdef Py_ssize_t n = keys.shape[0], i, total, count
    cdef int passes = (high - low + DIGIT - 1) // DIGIT, width
    cdef Py_ssize_t[1 << DIGIT] place
    cdef uint64 mask
    cdef uint64* source
    cdef uint64* target
    if passes <= 0 or n < 2:
        return
    with nogil:
        width = (high - low + passes - 1) // passes
        mask = (<uint64>1 << width) - 1
        source, target = &keys[0], &spare[0]
        while low < high:
            memset(place, 0, sizeof(place))
            for i in range(n):
                place[(source[i] >> low) & mask] += 1
            total = 0
            for i in range(1 << width):
                count = place[i]
                place[i] = total
                total += count
            for i in range(n):
                count = (source[i] >> low) & mask
                target[place[count]] = source[i]
                place[count] += 1
            source, target = target, source
            low += width
        if source != &keys[0]:
            memcpy(&keys[0], source, n * sizeof(uint64))
