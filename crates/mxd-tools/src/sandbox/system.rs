//! The parts of a machine that every program needs, and what in them is nobody's business.

use std::path::PathBuf;

/// Programs, libraries and settings.
const READ: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/etc",
    "/opt",
    "/nix/store",
    "/run/current-system",
    "/snap",
    "/var/lib/snapd/snap",
    "/home/linuxbrew",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/kernel/mm/transparent_hugepage",
];

/// Keys and passwords of the machine. They are closed to ordinary users anyway; a daemon of root's would see them.
const HIDE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/security/opasswd",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/letsencrypt",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/openvpn",
    "/etc/NetworkManager/system-connections",
    "/etc/wpa_supplicant",
    "/etc/docker",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/cni",
    "/etc/ppp",
    "/etc/mysql/debian.cnf",
    "/etc/postgresql",
    "/etc/redis",
    "/etc/cloud",
    "/etc/netrc",
    "/etc/apt/auth.conf",
    "/etc/apt/auth.conf.d",
];

/// What every program may look at.
pub(super) fn read() -> Vec<PathBuf> {
    READ.iter().map(PathBuf::from).collect()
}

/// What in there is hidden.
pub(super) fn hide() -> Vec<PathBuf> {
    HIDE.iter().map(PathBuf::from).collect()
}
