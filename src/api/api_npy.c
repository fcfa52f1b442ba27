/* SPDX-License-Identifier: Apache-2.0
 * .npy and .npz files (NumPy Enhancement Proposal 1: magic, version, header dictionary, data). An .npz is a
 * zip of .npy members; stored members need nothing, deflated ones zlib, found at run time. */
#include "api/api_array.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the header dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } ---- */
typedef struct npy_header {
    char descr[16];
    bool fortran_order;
    uint32_t rank;
    int64_t shape[TIRC_RANK_MAX];
} npy_header;

static const char *find_key(const char *text, const char *key) {
    const char *at = strstr(text, key);
    if (!at)
        return NULL;
    at += strlen(key);
    while (*at == ' ' || *at == '\'' || *at == '"')
        ++at;
    if (*at++ != ':')
        return NULL;
    while (*at == ' ')
        ++at;
    return at;
}

static bool read_shape(const char *at, npy_header *header) {
    if (*at++ != '(')
        return false;
    for (;;) {
        while (*at == ' ' || *at == ',')
            ++at;
        if (*at == ')')
            return true;
        char *end;
        errno = 0;
        long long value = strtoll(at, &end, 10);
        if (end == at || errno || value < 0 || header->rank == TIRC_RANK_MAX)
            return false;
        header->shape[header->rank++] = value;
        at = *end == 'L' ? end + 1 : end;
    }
}

static bool read_header(const char *text, npy_header *header) {
    const char *descr = find_key(text, "descr"), *order = find_key(text, "fortran_order"),
               *shape = find_key(text, "shape");
    if (!descr || !order || !shape || (*descr != '\'' && *descr != '"'))
        return false;
    size_t size = strcspn(descr + 1, "'\"");
    if (size >= sizeof header->descr)
        return false;
    memcpy(header->descr, descr + 1, size);
    header->descr[size] = 0;
    header->fortran_order = !strncmp(order, "True", 4);
    return read_shape(shape, header);
}

/* The dtype a descr means; wanted settles what bare bits are (see tirc.h). */
static num_dtype dtype_of(const char *descr, num_dtype wanted) {
    static const struct {
        const char *text;
        num_dtype dtype;
    } plain[] = {{"f2", NUM_DTYPE_F16}, {"f4", NUM_DTYPE_F32}, {"f8", NUM_DTYPE_F64}, {"i1", NUM_DTYPE_I8},
                 {"i2", NUM_DTYPE_I16}, {"i4", NUM_DTYPE_I32}, {"i8", NUM_DTYPE_I64}, {"u1", NUM_DTYPE_U8},
                 {"u2", NUM_DTYPE_U16}, {"u4", NUM_DTYPE_U32}, {"u8", NUM_DTYPE_U64}, {"b1", NUM_DTYPE_BOOL}};
    if (*descr != '<' && *descr != '|' && *descr != '=')
        return NUM_DTYPE_NONE;
    unsigned bytes =
        descr[1] && descr[2] >= '1' && descr[2] <= '8' && !descr[3] ? (unsigned)(descr[2] - '0') : 0;
    bool bits = descr[1] == 'V' || descr[1] == 'u';
    if (wanted != NUM_DTYPE_NONE && bits && num_dtype_is_float(wanted) && num_dtype_bytes(wanted) == bytes)
        return wanted;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; ++i)
        if (!strcmp(descr + 1, plain[i].text))
            return plain[i].dtype;
    return descr[1] == 'V' && bytes == 2 ? NUM_DTYPE_BF16 : NUM_DTYPE_NONE;
}

static void descr_of(num_dtype dtype, char *out) {
    static const char kinds[] = {
        [NUM_BOOL] = 'b', [NUM_SIGNED] = 'i', [NUM_UNSIGNED] = 'u', [NUM_FLOAT] = 'f'};
    unsigned bytes = num_dtype_bytes(dtype);
    char kind = kinds[num_dtype_class(dtype)];
    bool native = kind != 'f' || dtype == NUM_DTYPE_F16 || dtype == NUM_DTYPE_F32 || dtype == NUM_DTYPE_F64;
    if (num_dtype_bits(dtype) < 8)
        kind = 'u';
    else if (!native)
        kind = dtype == NUM_DTYPE_TF32 ? 'f' : 'V';
    sprintf(out, "%c%c%u", bytes == 1 ? '|' : '<', kind, bytes);
}

/* ---- reading a .npy held in memory ---- */
typedef struct read_call {
    tirc_session *session;
    const char *path;
    const char *dtype;
    uint32_t rank;
    const int64_t *shape;
    tirc_array *array;
    const unsigned char *bytes;
    size_t size;
    tirc_status status;
} read_call;

static tirc_status check_wanted(const read_call *call, num_dtype found, const npy_header *header) {
    if (call->dtype && strcmp(call->dtype, num_dtype_name(found)))
        return api_array_fail(call->session, "T0808", "%s holds %s, %s is wanted", call->path,
                              num_dtype_name(found), call->dtype);
    if (!call->shape)
        return TIRC_OK;
    bool same = call->rank == header->rank;
    for (uint32_t d = 0; same && d < header->rank; ++d)
        same = call->shape[d] < 0 || call->shape[d] == header->shape[d];
    if (same)
        return TIRC_OK;
    base_builder words;
    base_builder_start(&words, call->session->arena);
    for (uint32_t d = 0; d < header->rank; ++d)
        base_builder_format(&words, "%s%" PRId64, d ? ", " : "(", header->shape[d]);
    base_builder_string(&words, header->rank ? "), " : "(), ");
    base_builder_string(&words, call->rank ? "" : "(");
    for (uint32_t d = 0; d < call->rank; ++d) {
        base_builder_string(&words, d ? ", " : "(");
        if (call->shape[d] < 0)
            base_builder_char(&words, '?');
        else
            base_builder_format(&words, "%" PRId64, call->shape[d]);
    }
    return api_array_fail(call->session, "T0806", "%s has shape %s) is wanted", call->path, words.data);
}

static void copy_elements(const tirc_array *array, num_dtype dtype, const npy_header *header,
                          const unsigned char *from) {
    unsigned bytes = num_dtype_bytes(dtype);
    if (!header->fortran_order && num_dtype_storage_bits(dtype) >= 8) {
        if (array->bytes)
            memcpy(array->data, from, array->bytes);
        return;
    }
    for (uint64_t i = 0; i < array->count; ++i) {
        uint64_t place = i, bits = 0;
        if (header->fortran_order) {
            uint64_t rest = i;
            place = 0;
            uint64_t stride = array->count;
            for (uint32_t d = array->rank; d-- > 0;) {
                uint64_t extent = (uint64_t)array->shape[d];
                stride /= extent;
                place += rest % extent * stride;
                rest /= extent;
            }
        }
        memcpy(&bits, from + place * bytes, bytes);
        api_array_put(dtype, array->data, i, bits);
    }
}

static tirc_status read_npy(read_call *call) {
    const unsigned char *at = call->bytes;
    size_t size = call->size;
    static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};
    if (size < 10 || memcmp(at, magic, 6))
        return api_array_fail(call->session, "T0817",
                              "%s is not a .npy file (it does not start with \\x93NUMPY)", call->path);
    size_t start = at[6] == 1 ? 10 : 12;
    size_t header_size = (size_t)at[8] | (size_t)at[9] << 8;
    if (at[6] != 1 && size >= 12)
        header_size |= (size_t)at[10] << 16 | (size_t)at[11] << 24;
    if (size < start || header_size > size - start)
        return api_array_fail(call->session, "T0817", "%s ends inside its header: %zu bytes", call->path,
                              size);
    npy_header header = {0};
    char *text = base_arena_string(call->session->arena, (const char *)at + start, header_size);
    if (!read_header(text, &header))
        return api_array_fail(call->session, "T0817", "%s has a header that is not understood: %.60s",
                              call->path, text);
    num_dtype wanted = call->dtype ? num_dtype_find(call->dtype, strlen(call->dtype)) : NUM_DTYPE_NONE;
    num_dtype dtype = dtype_of(header.descr, wanted);
    if (dtype == NUM_DTYPE_NONE)
        return api_array_fail(call->session, "T0817", "%s has elements of type %s, which tirc does not read",
                              call->path, header.descr);
    tirc_status status = check_wanted(call, dtype, &header);
    if (status == TIRC_OK)
        status = api_array_allocate(call->session, dtype, header.rank, header.shape, call->array);
    if (status != TIRC_OK)
        return status;
    uint64_t needed = call->array->count * num_dtype_bytes(dtype), have = size - start - header_size;
    if (have < needed)
        return api_array_fail(call->session, "T0818",
                              "%s is cut short: the header promises %" PRIu64
                              " bytes of data, the file has %" PRIu64,
                              call->path, needed, have);
    status = api_array_data(call->session, call->array);
    if (status == TIRC_OK)
        copy_elements(call->array, dtype, &header, at + start + header_size);
    return status;
}

/* ---- zip ---- */
static uint32_t little(const unsigned char *at, int bytes) {
    uint32_t value = 0;
    for (int i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

/* z_stream of zlib 1.x on 64-bit Unix; the layout has been stable since 1995. */
typedef struct zlib_stream {
    const unsigned char *next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char *next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char *msg;
    void *state, *zalloc, *zfree, *opaque;
    int data_type;
    unsigned long adler, reserved;
} zlib_stream;

static bool inflate_member(const unsigned char *from, size_t from_size, unsigned char *to, size_t to_size) {
    void *library = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    int (*start)(zlib_stream *, int, const char *, int);
    int (*work)(zlib_stream *, int);
    int (*end)(zlib_stream *);
    *(void **)&start = dlsym(library, "inflateInit2_");
    *(void **)&work = dlsym(library, "inflate");
    *(void **)&end = dlsym(library, "inflateEnd");
    bool good = false;
    zlib_stream stream = {
        .next_in = from, .avail_in = (unsigned)from_size, .next_out = to, .avail_out = (unsigned)to_size};
    if (start && work && end && start(&stream, -15, "1.2.0", (int)sizeof stream) == 0) {
        good = work(&stream, 4) == 1 && stream.total_out == to_size;
        end(&stream);
    }
    dlclose(library);
    return good;
}

/* Finds the member and leaves its bytes in the call. */
static tirc_status open_member(read_call *call, const char *member) {
    const unsigned char *file = call->bytes, *directory = NULL;
    size_t size = call->size;
    for (size_t at = size >= 22 ? size - 22 : 0; size >= 22; --at) {
        if (little(file + at, 4) == 0x06054b50) {
            uint32_t offset = little(file + at + 16, 4);
            directory = offset < at ? file + offset : NULL;
            break;
        }
        if (!at || size - at > 65600)
            break;
    }
    if (!directory)
        return api_array_fail(call->session, "T0817", "%s is not a whole .npz file (no zip directory)",
                              call->path);
    for (size_t at = (size_t)(directory - file); size - at >= 46 && little(file + at, 4) == 0x02014b50;) {
        uint32_t method = little(file + at + 10, 2), packed = little(file + at + 20, 4),
                 plain = little(file + at + 24, 4);
        uint32_t name_size = little(file + at + 28, 2), extra = little(file + at + 30, 2),
                 comment = little(file + at + 32, 2);
        uint64_t local = little(file + at + 42, 4);
        const char *name = (const char *)file + at + 46;
        if (size - at - 46 < name_size)
            break;
        size_t bare = name_size > 4 && !memcmp(name + name_size - 4, ".npy", 4) ? name_size - 4 : name_size;
        bool same = !member || ((strlen(member) == bare || strlen(member) == name_size) &&
                                !memcmp(member, name, strlen(member)));
        if (!same) {
            at += 46 + (size_t)name_size + extra + comment;
            if (at > size)
                break;
            continue;
        }
        if (local + 30 > size)
            break;
        uint64_t data = local + 30 + little(file + local + 26, 2) + little(file + local + 28, 2);
        if (data > size || packed > size - data || packed == UINT32_MAX)
            break;
        call->bytes = file + data;
        call->size = packed;
        if (method == 0)
            return TIRC_OK;
        unsigned char *out = base_arena_allocate(call->session->arena, (size_t)plain + 1);
        if (method != 8 || !inflate_member(file + data, packed, out, plain))
            return api_array_fail(call->session, "T0817",
                                  "%s: member %.*s is compressed and could not be unpacked%s", call->path,
                                  (int)name_size, name, method == 8 ? " (zlib, libz.so.1, is needed)" : "");
        call->bytes = out;
        call->size = plain;
        return TIRC_OK;
    }
    return api_array_fail(call->session, "T0817", "%s has no whole member `%s`", call->path,
                          member ? member : "");
}

/* ---- files ---- */
typedef struct file_call {
    tirc_session *session;
    const char *path;
    unsigned char *bytes;
    size_t size;
    tirc_status status;
} file_call;

static void file_body(void *argument) {
    file_call *call = argument;
    struct stat status;
    FILE *file = fopen(call->path, "rb");
    call->status = TIRC_ERROR;
    if (!file)
        return;
    if (!fstat(fileno(file), &status) && S_ISREG(status.st_mode)) {
        call->bytes = base_arena_allocate(call->session->array_arena, (size_t)status.st_size + 1);
        call->size = fread(call->bytes, 1, (size_t)status.st_size, file);
        call->status = ferror(file) ? TIRC_ERROR : TIRC_OK;
    } else {
        errno = EISDIR;
    }
    fclose(file);
}

static void read_body(void *argument) {
    read_call *call = argument;
    tirc_session *session = call->session;
    const char *colon = strstr(call->path, ".npz:");
    const char *member = colon ? colon + 5 : NULL;
    char *path = base_arena_string(session->arena, call->path,
                                   colon ? (size_t)(colon + 4 - call->path) : strlen(call->path));
    file_call file = {.session = session, .path = path};
    errno = 0;
    tirc_status status = api_protect(session->arrays, file_body, &file, &file.status);
    if (status != TIRC_OK) {
        call->status = api_array_fail(session, "T0819", "cannot read %s: %s", path,
                                      status == TIRC_ERROR ? strerror(errno) : tirc_status_name(status));
        return;
    }
    call->bytes = file.bytes;
    call->size = file.size;
    call->status = TIRC_OK;
    if (file.size >= 4 && !memcmp(file.bytes, "PK\3\4", 4))
        call->status = open_member(call, member);
    if (call->status == TIRC_OK)
        call->status = read_npy(call);
}

tirc_status tirc_array_read(tirc_session *session, const char *path, const char *dtype, uint32_t rank,
                            const int64_t *shape, tirc_array *array) {
    if (!session || !path || !array)
        return TIRC_USAGE;
    read_call call = {
        .session = session, .path = path, .dtype = dtype, .rank = rank, .shape = shape, .array = array};
    return api_protect(session->heap, read_body, &call, &call.status);
}

/* ---- writing ---- */
typedef struct write_call {
    tirc_session *session;
    const char *path;
    const tirc_array *array;
    tirc_status status;
} write_call;

static void npy_text(const write_call *call, num_dtype dtype, base_builder *out) {
    const tirc_array *array = call->array;
    char descr[8];
    base_builder header;
    base_builder_start(&header, call->session->arena);
    descr_of(dtype, descr);
    base_builder_format(&header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (uint32_t d = 0; d < array->rank; ++d)
        base_builder_format(&header, "%s%" PRId64, d ? ", " : "", array->shape[d]);
    base_builder_string(&header, array->rank == 1 ? ",), }" : "), }");
    while ((10 + header.size + 1) % 64)
        base_builder_char(&header, ' ');
    base_builder_char(&header, '\n');
    char start[10] = {
        (char)0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (char)(header.size & 255), (char)(header.size >> 8)};
    base_builder_add(out, start, sizeof start);
    base_builder_add(out, header.data, header.size);
}

static uint32_t crc32_of(const unsigned char *data, size_t size, uint32_t crc) {
    crc = ~crc;
    for (size_t i = 0; i < size; ++i) {
        crc ^= data[i];
        for (int k = 0; k < 8; ++k)
            crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1)));
    }
    return ~crc;
}

static void put_little(base_builder *out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i, value >>= 8) /* bytes may be more than 8 */
        base_builder_char(out, (char)value);
}

/* One stored member, array.npy: local header, data, directory, end (PKWARE APPNOTE 4.3). */
static void zip_around(base_builder *before, base_builder *after, uint32_t crc, uint64_t size) {
    static const char name[] = "arr_0.npy";
    put_little(before, 0x04034b50, 4);
    put_little(before, 20, 2);
    put_little(before, 0, 8);
    put_little(before, crc, 4);
    put_little(before, size, 4);
    put_little(before, size, 4);
    put_little(before, sizeof name - 1, 2);
    put_little(before, 0, 2);
    base_builder_string(before, name);
    put_little(after, 0x02014b50, 4);
    put_little(after, 20, 2);
    put_little(after, 20, 2);
    put_little(after, 0, 8);
    put_little(after, crc, 4);
    put_little(after, size, 4);
    put_little(after, size, 4);
    put_little(after, sizeof name - 1, 2);
    put_little(after, 0, 12);
    put_little(after, 0, 4);
    base_builder_string(after, name);
    size_t directory = after->size;
    put_little(after, 0x06054b50, 4);
    put_little(after, 0, 4);
    put_little(after, 1, 2);
    put_little(after, 1, 2);
    put_little(after, directory, 4);
    put_little(after, before->size + size, 4);
    put_little(after, 0, 2);
}

/* NumPy has no sub-byte types: one element a byte. */
static const void *plain_data(const write_call *call, num_dtype dtype, uint64_t *size) {
    *size = call->array->bytes;
    if (num_dtype_storage_bits(dtype) >= 8)
        return call->array->data;
    unsigned char *wide = base_arena_allocate(call->session->arena, call->array->count);
    for (uint64_t i = 0; i < call->array->count; ++i)
        wide[i] = (unsigned char)api_array_bits(dtype, call->array->data, i);
    *size = call->array->count;
    return wide;
}

static void write_body(void *argument) {
    write_call *call = argument;
    tirc_session *session = call->session;
    num_dtype dtype = num_dtype_find(call->array->dtype, strlen(call->array->dtype));
    size_t length = strlen(call->path);
    bool zip = length > 4 && !strcmp(call->path + length - 4, ".npz");
    base_builder header, before, after;
    uint64_t size;
    base_builder_start(&header, session->arena);
    base_builder_start(&before, session->arena);
    base_builder_start(&after, session->arena);
    npy_text(call, dtype, &header);
    const void *data = plain_data(call, dtype, &size);
    if (zip && header.size + size >= UINT32_MAX) {
        call->status =
            api_array_fail(session, "T0820", "%s: an .npz member is at most 4 GiB; write a .npy", call->path);
        return;
    }
    if (zip)
        zip_around(&before, &after,
                   crc32_of(data, size, crc32_of((unsigned char *)header.data, header.size, 0)),
                   header.size + size);
    char *temporary = base_arena_format(session->arena, "%s.%ld.tmp", call->path, (long)getpid());
    FILE *file = fopen(temporary, "wb");
    bool good = file != NULL;
    good = good && (!before.size || fwrite(before.data, 1, before.size, file) == before.size);
    good = good && fwrite(header.data, 1, header.size, file) == header.size;
    good = good && (!size || fwrite(data, 1, size, file) == size);
    good = good && (!after.size || fwrite(after.data, 1, after.size, file) == after.size);
    int problem = errno;
    if (file && fclose(file)) {
        good = false;
        problem = errno;
    }
    if (good && rename(temporary, call->path)) {
        good = false;
        problem = errno;
    }
    call->status = TIRC_OK;
    if (good)
        return;
    if (file)
        remove(temporary);
    call->status = api_array_fail(session, "T0820", "cannot write %s: %s", call->path, strerror(problem));
}

tirc_status tirc_array_write(tirc_session *session, const char *path, const tirc_array *array) {
    tirc_dtype dtype;
    if (!session || !path || !array || !tirc_dtype_find(array->dtype, &dtype))
        return TIRC_USAGE;
    write_call call = {.session = session, .path = path, .array = array};
    return api_protect(session->heap, write_body, &call, &call.status);
}
