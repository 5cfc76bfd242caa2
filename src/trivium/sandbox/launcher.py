"""Runs inside a new worker process before the interpreter does: takes everything away, then becomes the interpreter.

Started by path with `python -I -S`, so it stands alone: nothing of Trivium is imported. Arguments: the layer ("bwrap",
"confined" or "limits"), bytes of memory, the path of bwrap (or "-"), the interpreter, and its own arguments.

* limits: no files written, no core, few descriptors, a bound on memory; an empty environment; nothing inherited but
  the two pipes; a session of its own; no new privileges; dies with the server; nobody instead of root.
* confined: also a system-call filter (no sockets, no other processes, no writing) and Landlock (only the interpreter
  and its libraries can be opened).
* bwrap: also namespaces of its own: nothing but those files exists, no network, no other process.
"""

import ctypes
import os
import platform
import resource
import struct
import sys

NOBODY = 65534
OPEN_FILES = 16
FILE_BYTES = 4096  # bwrap writes its user map; nothing else is writable
SPARE_BYTES = 384 * 2**20  # code, stacks and arenas of the interpreter, which its own limit does not count
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/nix/store", "/gnu/store")

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 1, 38, 22
SECCOMP_MODE_FILTER = 2
LANDLOCK_CREATE, LANDLOCK_ADD, LANDLOCK_RESTRICT = 444, 445, 446
READ_RIGHTS = 0b1101  # execute, read a file, read a folder

# What the interpreter needs, by name: (x86-64, arm64); None: does not exist there.
CALLS = {
    "read": (0, 63), "write": (1, 64), "close": (3, 57), "fstat": (5, 80), "lseek": (8, 62), "mmap": (9, 222),
    "mprotect": (10, 226), "munmap": (11, 215), "brk": (12, 214), "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "pread64": (17, 67), "readv": (19, 65),
    "writev": (20, 66), "access": (21, None), "sched_yield": (24, 124), "mremap": (25, 216), "madvise": (28, 233),
    "nanosleep": (35, 101), "getpid": (39, 172), "execve": (59, 221), "exit": (60, 93), "wait4": (61, 260),
    "uname": (63, 160),
    "getcwd": (79, 17), "readlink": (89, None), "gettimeofday": (96, 169), "getrlimit": (97, None),
    "sigaltstack": (131, 132), "arch_prctl": (158, None), "gettid": (186, 178), "futex": (202, 98),
    "sched_getaffinity": (204, 123), "set_tid_address": (218, 96), "restart_syscall": (219, 128),
    "clock_gettime": (228, 113), "clock_getres": (229, 114), "clock_nanosleep": (230, 115),
    "exit_group": (231, 94), "tgkill": (234, 131), "newfstatat": (262, 79), "readlinkat": (267, 78),
    "faccessat": (269, 48), "ppoll": (271, 73), "poll": (7, None), "set_robust_list": (273, 99),
    "get_robust_list": (274, 100), "prlimit64": (302, 261), "getrandom": (318, 278), "execveat": (322, 281),
    "statx": (332, 291), "rseq": (334, 293), "prctl": (157, 167), "fcntl": (72, 25),
}  # fmt: skip
CLONE, CLONE3, OPENAT = (56, 220), (435, 435), (257, 56)
CLONE_THREAD = 0x10000
O_WRITING = 0o3 | 0o100 | 0o1000 | 0o2000  # for writing, creating, truncating, appending
AUDIT_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
ALLOW, REFUSE, NOT_THERE = 0x7FFF0000, 0x00050000 | 1, 0x00050000 | 38


def main(layer: str, memory: int, bwrap: str, interpreter: str, rest: list[str]) -> None:
    quiet()
    limits(memory)
    os.setsid()
    os.chdir("/")
    if layer == "bwrap":
        into_bwrap(bwrap, interpreter, rest)
    binary = os.open(interpreter, os.O_RDONLY | os.O_CLOEXEC)
    drop_root()
    prctl(PR_SET_PDEATHSIG, 9)
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    if layer == "confined":
        landlock(binary)
        seccomp()
    os.execve(binary, [interpreter, *rest], {})


def quiet() -> None:
    """Nothing inherited but the two pipes: whatever else the server has open is not ours to see."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.closerange(3, min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1 << 16))


def limits(memory: int) -> None:
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_AS, memory + SPARE_BYTES),
    ):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (least, least))
        except (ValueError, OSError):  # macOS knows no limit of address space
            pass


def drop_root() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def prctl(option: int, value: int) -> None:
    if sys.platform == "linux" and libc().prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}")


def libc() -> "ctypes.CDLL":
    return ctypes.CDLL(None, use_errno=True)


def into_bwrap(bwrap: str, interpreter: str, rest: list[str]) -> None:
    program = filter_program()
    words = ["--unshare-all", "--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox"]
    words += ["--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL", "--chdir", "/"]
    words += ["--ro-bind", interpreter, "/monty"]
    for folder in LIBRARIES:
        if os.path.isdir(folder):
            words += ["--ro-bind", folder, folder]
    words += ["--remount-ro", "/"]
    if program:
        reader, writer = os.pipe()
        os.write(writer, program)
        os.close(writer)
        os.set_inheritable(reader, True)
        words += ["--seccomp", str(reader)]
    os.execve(bwrap, ["bwrap", *words, "--", "/monty", *rest], {})


def landlock(binary: int) -> None:
    call = libc().syscall
    version = call(LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        raise OSError(ctypes.get_errno(), "Landlock is not available")
    files = (1 << {1: 13, 2: 14}.get(version, 15)) - 1 if version < 5 else (1 << 16) - 1
    network = 0b11 if version >= 4 else 0
    scopes = 0b11 if version >= 6 else 0
    rights = struct.pack("QQQ", files, network, scopes)[: 8 if version < 4 else 16 if version < 6 else 24]
    rules = call(LANDLOCK_CREATE, rights, len(rights), 0)
    if rules < 0:
        raise OSError(ctypes.get_errno(), "Landlock refused the rules")
    allow(rules, binary, READ_RIGHTS & ~0b1000)
    for folder in LIBRARIES:
        if os.path.isdir(folder):
            opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
            allow(rules, opened, READ_RIGHTS)
            os.close(opened)
    if call(LANDLOCK_RESTRICT, rules, 0) != 0:
        raise OSError(ctypes.get_errno(), "Landlock could not be entered")
    os.close(rules)


def allow(rules: int, opened: int, rights: int) -> None:
    if libc().syscall(LANDLOCK_ADD, rules, 1, struct.pack("=Qi", rights, opened), 0) != 0:
        raise OSError(ctypes.get_errno(), "Landlock refused a rule")


def seccomp() -> None:
    program = filter_program()
    if not program:
        raise OSError("no system-call filter for this architecture")
    kept = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(kept))
    if libc().prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the system-call filter was refused")


def filter_program() -> bytes:
    """A list of what is allowed, in the kernel's own code; whatever is not on it fails with EPERM."""
    architecture = platform.machine()
    if architecture not in AUDIT_ARCHITECTURE:
        return b""
    at = 0 if architecture == "x86_64" else 1
    load, equal, test, give = 0x20, 0x15, 0x45, 0x06
    words = [
        (load, 0, 0, 4),
        (equal, 1, 0, AUDIT_ARCHITECTURE[architecture]),
        (give, 0, 0, REFUSE),
        (load, 0, 0, 0),
        (equal, 0, 1, CLONE3[at]),
        (give, 0, 0, NOT_THERE),  # glibc then uses clone, whose flags can be read here
        (equal, 0, 4, CLONE[at]),
        (load, 0, 0, 16),
        (test, 0, 1, CLONE_THREAD),
        (give, 0, 0, ALLOW),
        (give, 0, 0, REFUSE),
        (equal, 0, 4, OPENAT[at]),
        (load, 0, 0, 32),
        (test, 1, 0, O_WRITING),
        (give, 0, 0, ALLOW),
        (give, 0, 0, REFUSE),
    ]
    for pair in CALLS.values():
        if (number := pair[at]) is not None:
            words += [(equal, 0, 1, number), (give, 0, 0, ALLOW)]
    words.append((give, 0, 0, REFUSE))
    return b"".join(struct.pack("HBBI", *word) for word in words)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:])
