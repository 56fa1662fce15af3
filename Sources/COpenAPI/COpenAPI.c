#include "COpenAPI.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char document[] = {
#embed "../../docs/openapi.json"
};

const unsigned char *countersign_openapi_bytes(void) { return document; }
size_t countersign_openapi_size(void) { return sizeof document; }
