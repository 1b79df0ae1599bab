//! The socket file: private, never somebody else's, and gone in the end.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use mxd_tools::proxy::{Address, HostRules, Listen, Proxy, ProxyError};

use super::{Fixture, get, options, socket, status};

async fn start_at(path: &Path) -> Result<Proxy, ProxyError> {
    Proxy::start(options(HostRules::default(), Listen::Unix { socket: path.to_owned(), port: 3128 })).await
}

#[tokio::test]
async fn socket_and_folder_are_private() {
    let fixture = Fixture::new(HostRules::default()).await;
    let path = socket(&fixture.folder);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(fixture.proxy.address(), &Address::Unix(path));
    let env = fixture.proxy.env();
    assert!(env.contains(&("https_proxy".to_owned(), "http://127.0.0.1:3128".to_owned())), "{env:?}");
}

#[tokio::test]
async fn a_folder_open_to_others_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for mode in [0o750, 0o701, 0o777] {
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        let error = start_at(&folder.path().join("proxy.sock")).await.unwrap_err();
        assert!(matches!(error, ProxyError::FolderOpen { mode: found, .. } if found == mode), "{error}");
        assert!(error.to_string().contains("chmod 700"), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn what_is_in_use_stays_and_what_is_forgotten_goes() {
    let fixture = Fixture::new(HostRules::default()).await;
    let path = socket(&fixture.folder);
    assert!(matches!(start_at(&path).await, Err(ProxyError::InUse { .. })));
    assert_eq!(status(&fixture.ask(&get("a.test")).await), 403);

    let file = path.with_file_name("notes");
    fs::File::create(&file).unwrap();
    assert!(matches!(start_at(&file).await, Err(ProxyError::InUse { .. })));
    assert!(file.exists());

    let forgotten = path.with_file_name("old.sock");
    drop(UnixListener::bind(&forgotten).unwrap());
    assert!(forgotten.exists());
    let proxy = start_at(&forgotten).await.unwrap();
    drop(proxy);
    assert!(!forgotten.exists());
}

#[tokio::test]
async fn paths_that_cannot_be_are_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    let error = start_at(&folder.path().join("x".repeat(150))).await.unwrap_err();
    assert!(error.to_string().contains("shorter"), "{error}");
    assert!(matches!(start_at(Path::new("proxy.sock")).await, Err(ProxyError::NoFolder { .. })));
    fs::File::create(folder.path().join("file")).unwrap();
    let error = start_at(&folder.path().join("file/proxy.sock")).await.unwrap_err();
    assert!(matches!(error, ProxyError::Folder { .. }), "{error}");
}
