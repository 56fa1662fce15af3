// libcurl's functions of variable arguments, one for each type: Swift can call those.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

static inline CURLcode curl_set_string(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

// What reads the message, what is told of each line of the server, and what asks whether to go on; all with `context`.
static inline CURLcode curl_set_callbacks(
    CURL *handle, void *context, curl_read_callback read, curl_write_callback line, curl_xferinfo_callback progress) {
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, read);
    curl_easy_setopt(handle, CURLOPT_READDATA, context);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, line);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, progress);
    return curl_easy_setopt(handle, CURLOPT_XFERINFODATA, context);
}

static inline long curl_response_code(CURL *handle) {
    long code = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code);
    return code;
}
