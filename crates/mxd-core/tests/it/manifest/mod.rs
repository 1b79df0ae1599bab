//! Manifests from outside: problems, credentials, signatures, lock files, and the published schemas.

mod credential_names;
mod credential_shapes;
mod credentials;
mod fixtures;
mod literals;
mod locks;
mod parsing;
mod quick;
mod schemas;
mod signatures;
