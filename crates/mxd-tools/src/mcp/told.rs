//! Differences between what was accepted and what is offered, in words for a line of a log.

use mxd_core::manifest::Finding;

/// One difference in words.
pub fn finding(finding: &Finding) -> String {
    match finding {
        Finding::ServerNotLocked => "nobody accepted what it offers".to_owned(),
        Finding::OtherIdentity { .. } => "it is reached in another way than when it was accepted".to_owned(),
        Finding::OtherPackage { .. } => "it is another package than the accepted one".to_owned(),
        Finding::Unreadable { error } => format!("it offers something that is no tool ({error})"),
        Finding::TooMany { given, limit } => format!("it offers {given} tools, more than {limit}"),
        Finding::Missing { tool } => format!("{tool} is missing"),
        Finding::Unexpected { tool } => format!("{tool} is not declared"),
        Finding::Repeated { tool, times } => format!("{tool} is there {times} times"),
        Finding::ToolNotLocked { tool, .. } => format!("nobody accepted the definition of {tool}"),
        Finding::Drift { tool, differences, .. } => {
            let places: Vec<String> = differences.iter().take(PLACES).map(|one| one.path.clone()).collect();
            let more = differences.len().saturating_sub(PLACES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{tool} has changed at {}{more}", places.join(", "))
        }
    }
}

/// Places of one changed definition that are named.
const PLACES: usize = 5;
