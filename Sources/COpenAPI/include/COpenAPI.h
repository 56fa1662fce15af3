#include <stddef.h>

// docs/openapi.json as it was when the program was built.
const unsigned char *countersign_openapi_bytes(void);
size_t countersign_openapi_size(void);
