/* Records every change that a process makes to the files in a directory, in order, so that a test can replay any part of it.
 *
 * Built as a shared library and loaded with LD_PRELOAD. POWER_LOSS_DIRECTORY is the directory, without a slash at its end, and
 * POWER_LOSS_LOG the file to which the records go. A record is a `struct record`, then the name of the file, then its data. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct record {
    uint64_t kind; /* 'c' create, 'w' write, 't' truncate, 's' sync, 'd' sync of the directory, 'u' unlink */
    uint64_t file; /* its inode */
    uint64_t offset;
    uint64_t name_length;
    uint64_t length;
};

static int log_file = -1;
static const char *directory;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("POWER_LOSS_LOG");
    directory = getenv("POWER_LOSS_DIRECTORY");
    if (path && directory)
        log_file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The name of a path in the directory; empty for the directory itself, NULL for a path elsewhere. */
static const char *name_of(const char *path) {
    size_t length = directory ? strlen(directory) : 0;
    if (log_file < 0 || strncmp(path, directory, length) != 0) return NULL;
    if (path[length] == '\0') return path + length;
    return path[length] == '/' ? path + length + 1 : NULL;
}

/* The same for an open file. */
static const char *name_of_fd(int fd, char *buffer, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, buffer, size - 1);
    if (length < 0) return NULL;
    buffer[length] = '\0';
    return name_of(buffer);
}

static void put(const void *bytes, size_t length) {
    if (length > 0 && syscall(SYS_write, log_file, bytes, length) != (long)length) {
        static const char message[] = "power loss: cannot write the log\n";
        syscall(SYS_write, 2, message, sizeof message - 1);
        _exit(99);
    }
}

static void record(char kind, uint64_t file, uint64_t offset, const char *name, const void *data, uint64_t length) {
    struct record record = {(uint64_t)kind, file, offset, strlen(name), length};
    put(&record, sizeof record);
    put(name, record.name_length);
    if (data) put(data, length);
}

/* Records a change of an open file. Without data, `length` is a size. */
static void changed(char kind, int fd, uint64_t offset, const void *data, uint64_t length) {
    int error = errno;
    char buffer[4096];
    struct stat stat;
    const char *name = name_of_fd(fd, buffer, sizeof buffer);
    if (name && fstat(fd, &stat) == 0) {
        if (kind == 's' && S_ISDIR(stat.st_mode)) kind = 'd';
        record(kind, stat.st_ino, offset, name, data, length);
    }
    errno = error;
}

static int opened(int at, const char *path, int flags, mode_t mode) {
    struct stat stat;
    int error = errno;
    int is_new = (flags & O_CREAT) && fstatat(at, path, &stat, 0) != 0;
    errno = error;
    int fd = (int)syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && is_new) changed('c', fd, 0, NULL, 0);
    else if (fd >= 0 && (flags & O_TRUNC)) changed('t', fd, 0, NULL, 0);
    return fd;
}

#define MODE(flags, mode)                        \
    mode_t mode = 0;                             \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {     \
        va_list arguments;                       \
        va_start(arguments, flags);              \
        mode = (mode_t)va_arg(arguments, int);   \
        va_end(arguments);                       \
    }

int open(const char *path, int flags, ...) { MODE(flags, mode) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags, mode) return opened(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags, mode) return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags, mode) return opened(at, path, flags, mode); }

ssize_t write(int fd, const void *data, size_t length) {
    struct stat stat;
    int error = errno, flags = fcntl(fd, F_GETFL);
    off_t offset = flags & O_APPEND ? (fstat(fd, &stat) == 0 ? stat.st_size : 0) : lseek(fd, 0, SEEK_CUR);
    errno = error;
    ssize_t written = syscall(SYS_write, fd, data, length);
    if (written > 0 && offset >= 0) changed('w', fd, (uint64_t)offset, data, (uint64_t)written);
    return written;
}

static ssize_t written_at(int fd, const void *data, size_t length, off_t offset) {
    ssize_t written = syscall(SYS_pwrite64, fd, data, length, offset);
    if (written > 0) changed('w', fd, (uint64_t)offset, data, (uint64_t)written);
    return written;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return written_at(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return written_at(fd, data, length, offset); }

static int truncated(int fd, off_t length) {
    int done = (int)syscall(SYS_ftruncate, fd, length);
    if (done == 0) changed('t', fd, 0, NULL, (uint64_t)length);
    return done;
}

int ftruncate(int fd, off_t length) { return truncated(fd, length); }
int ftruncate64(int fd, off64_t length) { return truncated(fd, length); }

int fsync(int fd) {
    int done = (int)syscall(SYS_fsync, fd);
    if (done == 0) changed('s', fd, 0, NULL, 0);
    return done;
}

int fdatasync(int fd) {
    int done = (int)syscall(SYS_fdatasync, fd);
    if (done == 0) changed('s', fd, 0, NULL, 0);
    return done;
}

int unlink(const char *path) {
    int done = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    const char *name = name_of(path);
    if (done == 0 && name) record('u', 0, 0, name, NULL, 0);
    return done;
}
