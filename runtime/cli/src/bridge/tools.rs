//! The tools that clients see, by patterns of their names.

/// The patterns of `--allow-tool` and `--deny-tool`; `*` stands for any text.
#[derive(Clone, Default)]
pub(super) struct ToolRules {
    allowed: Vec<String>,
    denied: Vec<String>,
}

impl ToolRules {
    pub(super) fn new(allowed: &[String], denied: &[String]) -> Self {
        Self {
            allowed: allowed.to_vec(),
            denied: denied.to_vec(),
        }
    }

    /// Returns whether all tools are admitted.
    pub(super) fn is_empty(&self) -> bool {
        self.allowed.is_empty() && self.denied.is_empty()
    }

    /// Returns whether clients see a tool: it is allowed, if anything is, and not denied.
    pub(super) fn admit(&self, name: &str) -> bool {
        let has = |patterns: &[String]| patterns.iter().any(|pattern| fits(pattern, name));
        (self.allowed.is_empty() || has(&self.allowed)) && !has(&self.denied)
    }
}

/// Returns whether a name fits a pattern.
fn fits(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    // The earliest place of each part leaves the most for those that follow.
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_say_which_tools_are_seen() {
        for (pattern, name, is_it) in [
            ("read", "read", true),
            ("read", "reads", false),
            ("read_*", "read_file", true),
            ("*_file", "read_file", true),
            ("*", "", true),
            ("r*d*e", "read_file", true),
            ("a*a", "a", false),
            ("*x*", "read", false),
        ] {
            assert_eq!(fits(pattern, name), is_it, "{pattern} {name}");
        }
        let rules = ToolRules::new(&["git_*".to_owned()], &["git_push*".to_owned()]);
        assert!(rules.admit("git_log") && !rules.admit("git_push_all") && !rules.admit("rm"));
        assert!(ToolRules::default().admit("rm"));
    }
}
