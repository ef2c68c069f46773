/*
 * synced.so goes before the C library of a server (LD_PRELOAD) and keeps with
 * each file how many of its bytes have been synced, in the extended attribute
 * user.synced, as a decimal number. A server that is killed loses nothing: what
 * it has written is in the kernel's cache, and is written to the disk sooner or
 * later. After a loss of power only what had been synced is certain. With the
 * attribute a script can make that of a killed server's files (powerloss.go).
 *
 * Redis 7.0 syncs its append-only files with fdatasync, in a thread of its own
 * for everysec, and new files with fsync. sync_file_range, which it also
 * calls, makes nothing durable (sync_file_range(2), "Warning").
 *
 * That a file exists, and its name, count as kept at once, as on file systems
 * with a journal, which do that in order. An attribute is part of the file: it
 * goes with it when it is renamed, and ends with it.
 *
 * Everything asks the kernel itself and looks nothing up in the next library:
 * the server's allocator and libfaketime stand in each other's way there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char attribute[] = "user.synced";

/* size is the length of a file; -1: it is no regular file. */
static long long size(int fd)
{
	struct statx s;
	if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_SIZE, &s) != 0 || !S_ISREG(s.stx_mode))
		return -1;
	return (long long)s.stx_size;
}

/* synced is how much of it has been synced so far. */
static long long synced(int fd)
{
	char text[24];
	ssize_t n = fgetxattr(fd, attribute, text, sizeof text - 1);
	if (n <= 0)
		return 0;
	text[n] = 0;
	return strtoll(text, NULL, 10);
}

/*
 * keep notes it. Two threads may not do so for one file at once: a server syncs
 * one file from one thread at a time. Where the file system has no attributes
 * nothing is noted, and the script says so.
 */
static void keep(int fd, long long bytes)
{
	char text[24];
	int n = snprintf(text, sizeof text, "%lld", bytes);
	fsetxattr(fd, attribute, text, n, 0);
}

/*
 * sync_with syncs a file by the system call, and notes what it had before: what
 * is written while it goes on may or may not be part of it. Under engines that
 * keep files with FUSE a signal can interrupt a sync, which ends a server that
 * syncs always. Elsewhere it cannot, so it is made again.
 */
static int sync_with(long call, int fd)
{
	long long before = size(fd);
	int saved, result;

	do
		result = syscall(call, fd);
	while (result != 0 && errno == EINTR);
	saved = errno;
	if (result == 0 && before > synced(fd))
		keep(fd, before);
	errno = saved;
	return result;
}

int fsync(int fd) { return sync_with(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_with(SYS_fdatasync, fd); }

/* What is cut off is no longer synced, and less so what comes in its place. */
static void cut(int fd, long long length)
{
	int saved = errno;
	if (synced(fd) > length)
		keep(fd, length);
	errno = saved;
}

int ftruncate64(int fd, off64_t length)
{
	int result = syscall(SYS_ftruncate, fd, length);
	if (result == 0)
		cut(fd, length);
	return result;
}

int truncate64(const char *path, off64_t length)
{
	int fd, saved, result = -1;

	if ((fd = open(path, O_WRONLY | O_CLOEXEC)) < 0)
		return -1;
	result = ftruncate64(fd, length);
	saved = errno;
	close(fd);
	errno = saved;
	return result;
}

#if __SIZEOF_LONG__ != 8
#error "a system with 64 bits is needed: there the two kinds of truncate are one"
#endif
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }
int truncate(const char *path, off_t length) { return truncate64(path, length); }
