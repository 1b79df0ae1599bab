//! Whose commits they are, in every way in which git lets a user say so.

use mxd_engine::git::IdentityError;

use super::yard::Yard;

fn add_global(yard: &Yard, text: &str) {
    yard.write("home/.gitconfig", &format!("{}{text}", yard.read("home/.gitconfig")));
}

async fn found(yard: &Yard, variables: &[(&str, &str)]) -> Result<String, IdentityError> {
    let repository = yard.repository_with(yard.git().identity_variables(variables)).await;
    repository.identity().await.map(|who| format!("{} <{}>", who.name, who.email))
}

fn forget(yard: &Yard) {
    for key in ["user.name", "user.email"] {
        let _not_set = yard.command(&yard.at("repo"), &["config", "--unset-all", key]).status().unwrap();
        let _not_set =
            yard.command(&yard.at("repo"), &["config", "--global", "--unset-all", key]).status().unwrap();
    }
}

#[tokio::test]
async fn identity_comes_from_where_git_itself_would_take_it() {
    let yard = Yard::new();
    forget(&yard);
    add_global(&yard, "[user]\n\tname = Glob \\\"Al\\\" Ö\n\temail = global@example.org\n");
    assert_eq!(found(&yard, &[]).await.unwrap(), "Glob \"Al\" Ö <global@example.org>");

    yard.write("home/work.inc", "[user]\n\temail = work@example.org\n");
    let repo = yard.at("repo").display().to_string();
    add_global(&yard, &format!("[includeIf \"gitdir:{repo}/\"]\n\tpath = work.inc\n"));
    assert_eq!(
        found(&yard, &[]).await.unwrap(),
        "Glob \"Al\" Ö <work@example.org>",
        "included for this folder"
    );

    yard.git_args(&yard.at("repo"), &["config", "user.email", "local@example.org"]);
    assert_eq!(found(&yard, &[]).await.unwrap(), "Glob \"Al\" Ö <local@example.org>", "the repository's own");

    yard.git_args(&yard.at("repo"), &["config", "author.email", "author@example.org"]);
    assert_eq!(found(&yard, &[]).await.unwrap(), "Glob \"Al\" Ö <author@example.org>", "an author's own");

    let variables =
        [("GIT_AUTHOR_NAME", "Env"), ("GIT_AUTHOR_EMAIL", "env@example.org"), ("EMAIL", "no@example.org")];
    assert_eq!(found(&yard, &variables).await.unwrap(), "Env <env@example.org>", "the environment");
}

#[tokio::test]
async fn missing_identity_is_named_and_never_made_up() {
    let yard = Yard::new();
    forget(&yard);
    let told = found(&yard, &[]).await.unwrap_err().to_string();
    assert!(told.contains("user.name and user.email are not set"), "{told}");
    assert!(told.contains("git config --global user.email"), "{told}");
    add_global(&yard, "[user]\n\tname = Somebody\n\temail =\n");
    let told = found(&yard, &[]).await.unwrap_err().to_string();
    assert!(told.contains("user.email is not set"), "{told}");
}
