/* Makes the locks of Mutex (Synchronization) visible to the thread sanitizer. When two threads contend for one, the
   runtime, which is built without the sanitizer, hands the lock over by a system call. The sanitizer then reports a
   data race for every variable under a Mutex. scripts/test-sanitized loads this file before the runtime, and it reports
   the two functions concerned to the sanitizer.

   Their names and the register of their receiver are part of the ABI of Swift for Linux. */
#define _GNU_SOURCE
#include <dlfcn.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

void __tsan_acquire(void *) __attribute__((weak));
void __tsan_release(void *) __attribute__((weak));

SWIFT void lock_slow(unsigned self_id, SELF void *handle)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT void unlock_slow(SELF void *handle) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFT void lock_slow(unsigned self_id, SELF void *handle) {
    static SWIFT void (*next)(unsigned, SELF void *);
    if (!next) next = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    next(self_id, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void unlock_slow(SELF void *handle) {
    static SWIFT void (*next)(SELF void *);
    if (!next) next = dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    if (__tsan_release) __tsan_release(handle);
    next(handle);
}
