// What of libmaxminddb Swift cannot call: a function of variable arguments, and a union with a type of 128 bits.
#include <maxminddb.h>

// Reads the text at a path of two or three keys; the third may be NULL. `length` is 0 where there is no text.
static inline int maxminddb_text(
    MMDB_entry_s entry, const char *first, const char *second, const char *third, const char **text, size_t *length) {
    MMDB_entry_data_s data;
    int status = MMDB_get_value(&entry, &data, first, second, third, NULL);
    *length = 0;
    if (status == MMDB_LOOKUP_PATH_DOES_NOT_MATCH_DATA_ERROR) return MMDB_SUCCESS;
    if (status == MMDB_SUCCESS && data.has_data && data.type == MMDB_DATA_TYPE_UTF8_STRING) {
        *text = data.utf8_string;
        *length = data.data_size;
    }
    return status;
}
