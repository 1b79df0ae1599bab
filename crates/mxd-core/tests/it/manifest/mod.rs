//! Manifests from outside: problems, credentials, signatures, lock files, and the published schemas.

mod credentials;
mod fixtures;
mod literals;
mod locks;
mod parsing;
mod quick;
mod schemas;
mod signatures;
