//! The kernel: mounts, namespaces, devices, privileges, and the system calls with a history.

use super::attempt::{Attempt, Family, Outside};

pub(super) const FAMILY: Family = Family { name: "The kernel", attempts: ATTEMPTS, ..Family::PLAIN };

const NOT_EVERYWHERE: Outside = Outside::NotTried("not every machine has it");

/// Files that are opened, but not written to: opening them is what must fail.
const ATTEMPTS: &[Attempt] = &[
    Attempt {
        name: "mount a file system",
        script: "mkdir m; sys mount none m tmpfs 0 0 && { say; sys umount2 m 2; }",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "show a folder in another place",
        script: "mkdir b; sys mount / b '' 4096 0 && { say; sys umount2 b 2; }",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "make the system writable",
        script: "sys mount none /usr '' $((32 + 4096)) 0 && say",
        outside: Outside::NotTried("it would change the machine"),
        ..Attempt::PLAIN
    },
    Attempt {
        name: "uncover what is hidden",
        script: "sys umount2 /etc/shadow 2 && say; sys umount2 /proc/sysrq-trigger 2 && say",
        outside: Outside::NotTried("nothing is hidden there"),
        ..Attempt::PLAIN
    },
    Attempt { name: "change the root folder", script: "sys chroot . && say", ..Attempt::OF_ROOT },
    Attempt {
        name: "exchange the root file system",
        script: "sys pivot_root . .; [ $? != 1 ] && say",
        ..Attempt::OF_ROOT
    },
    Attempt { name: "mount with the new interface", script: "sys fsopen tmpfs 0 && say", ..Attempt::OF_ROOT },
    Attempt { name: "copy a tree of mounts", script: "sys open_tree -100 / 1 && say", ..Attempt::OF_ROOT },
    Attempt {
        name: "copy a tree of mounts with the newest interface",
        script: "SYS_open_tree_attr=467 sys open_tree_attr -100 / 1 0 0 && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt { name: "enter a new user namespace", script: "unshare -Ur true && say", ..Attempt::PLAIN },
    Attempt {
        name: "enter a new mount namespace",
        script: "sys unshare $((0x00020000)) && say",
        ..Attempt::OF_ROOT
    },
    Attempt { name: "start a process in a new user namespace", script: CLONE, ..Attempt::PLAIN },
    Attempt {
        name: "start a process in a new user namespace with the new interface",
        script: CLONE3,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "join a namespace",
        script: "exec 3< /proc/self/ns/net; sys setns 3 0 && say",
        ..Attempt::OF_ROOT
    },
    Attempt { name: "make a character device", script: "mknod c c 1 3 && say", ..Attempt::OF_ROOT },
    Attempt { name: "make a block device", script: "mknod d b 8 0 && say", ..Attempt::OF_ROOT },
    Attempt {
        name: "read a disk",
        script: "for disk in /dev/sd? /dev/vd? /dev/nvme?n? /dev/mmcblk?; do exec 3< $disk && say; done",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the machine's memory",
        script: "exec 3< /dev/mem && say; exec 3< /dev/port && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the kernel's memory",
        script: "[ \"$(head -c 1 /proc/kcore | wc -c)\" = 1 ] && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the kernel's messages from the device",
        script: "exec 3< /dev/kmsg && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "read the kernel's messages with a system call",
        script: "sys syslog 10 0 0 && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "use a virtual machine of the kernel's",
        script: "exec 3<> /dev/kvm && say; exec 3<> /dev/net/tun && say; exec 3<> /dev/fuse && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "reach for the emergency keys",
        script: "exec 3> /proc/sysrq-trigger && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "name a program for core dumps",
        script: "exec 3>> /proc/sys/kernel/core_pattern && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "change a setting of the kernel",
        script: "exec 3>> /proc/sys/vm/overcommit_memory && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "change a setting of a device",
        script: "exec 3>> /sys/class/net/lo/mtu && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "gain privileges from a program",
        script: "grep -q '^NoNewPrivs:.0' /proc/self/status && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "use the privileges of root",
        script: "grep -Eq '^Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]' /proc/self/status && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "become another user",
        script: "perl -e '$> = 12345; print \"ESCAPED\\n\" if $> == 12345'",
        ..Attempt::OF_ROOT
    },
    Attempt { name: "read a keyring", script: "sys keyctl 0 -3 1 && say", ..Attempt::PLAIN },
    Attempt {
        name: "put a key into a keyring",
        script: "sys add_key user mxd word 4 -2 && say",
        ..Attempt::PLAIN
    },
    Attempt {
        name: "have the kernel ask for a key",
        script: "sys request_key user mxd-no-such-key 0 -2; [ $? != 1 ] && say",
        ..Attempt::PLAIN
    },
    Attempt { name: "load a program into the kernel", script: BPF, ..Attempt::OF_ROOT },
    Attempt { name: "measure what the processor does", script: PERF, ..Attempt::OF_ROOT },
    Attempt { name: "hand system calls to a ring", script: IO_URING, ..Attempt::PLAIN },
    Attempt { name: "handle page faults", script: "sys userfaultfd 1 && say", ..Attempt::PLAIN },
    Attempt { name: "open a file by its number", script: BY_HANDLE, ..Attempt::OF_ROOT },
    Attempt { name: "watch a whole file system", script: "sys fanotify_init 0 0 && say", ..Attempt::OF_ROOT },
    Attempt {
        name: "use the second set of system call numbers",
        script: "SYS_x32=$((0x40000000 + 39)) sys x32 && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "load a module",
        script: "sys init_module '' 0 ''; case $? in 1|38) ;; *) say;; esac",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        // With wrong numbers, which the kernel looks at only after it has looked at the privileges.
        name: "reboot",
        script: "sys reboot 0 0 0 0; [ $? = 22 ] && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "add swap space",
        script: "sys swapon /no-such-file 0; [ $? = 2 ] && say",
        ..Attempt::OF_ROOT
    },
    Attempt {
        name: "have all processes recorded",
        script: "sys acct /no-such-file; [ $? = 2 ] && say",
        outside: NOT_EVERYWHERE,
        ..Attempt::PLAIN
    },
    Attempt {
        name: "rename the machine",
        script: "name=$(uname -n); sys sethostname $name ${#name} && say",
        ..Attempt::OF_ROOT
    },
    Attempt { name: "type into a terminal", script: TYPE, ..Attempt::OF_ROOT },
    Attempt { name: "type into a terminal with a padded number", script: TYPE_PADDED, ..Attempt::OF_ROOT },
];

const CLONE: &str = r#"perl -MPOSIX -e '
    my $child = syscall($ENV{SYS_clone} + 0, 0x10000000 | 17, 0, 0, 0, 0);
    POSIX::_exit(0) if $child == 0;
    print "ESCAPED\n" if $child > 0'"#;

const CLONE3: &str = r#"perl -MPOSIX -e '
    my $how = pack("Q8", 0x10000000, 0, 0, 0, 17, 0, 0, 0);
    my $child = syscall($ENV{SYS_clone3} + 0, $how, 64);
    POSIX::_exit(0) if $child == 0;
    print "ESCAPED\n" if $child > 0'"#;

/// An array of one element.
const BPF: &str = r#"perl -e '
    my $map = pack("L4 x56", 2, 4, 4, 1);
    print "ESCAPED\n" if syscall($ENV{SYS_bpf} + 0, 0, $map, length $map) >= 0'"#;

/// The clock of the processor, for this process.
const PERF: &str = r#"perl -e '
    my $event = pack("L L Q x96", 1, 112, 0);
    print "ESCAPED\n" if syscall($ENV{SYS_perf_event_open} + 0, $event, 0, -1, -1, 0) >= 0'"#;

const IO_URING: &str = r#"perl -e '
    my $parameters = "\0" x 120;
    print "ESCAPED\n" if syscall($ENV{SYS_io_uring_setup} + 0, 1, $parameters) >= 0'"#;

const BY_HANDLE: &str = r#"perl -e '
    my $handle = pack("L l x128", 128, 0);
    my $mount = pack("l", 0);
    my $path = "README";
    syscall($ENV{SYS_name_to_handle_at} + 0, -100, $path, $handle, $mount, 0);
    open my $folder, "<", ".";
    print "ESCAPED\n" if syscall($ENV{SYS_open_by_handle_at} + 0, fileno $folder, $handle, 0) >= 0'"#;

const TYPE: &str = r#"perl -e '
    open my $terminal, "+<", "/dev/ptmx" or die $!;
    my $letter = "x";
    print "ESCAPED\n" if defined ioctl $terminal, 0x5412, $letter'"#;

/// The kernel looks at the lower half of the number only; a filter must, too.
const TYPE_PADDED: &str = r#"perl -e '
    open my $terminal, "+<", "/dev/ptmx" or die $!;
    my $letter = "x";
    print "ESCAPED\n" if syscall($ENV{SYS_ioctl} + 0, fileno $terminal, 0x100005412, $letter) >= 0'"#;
