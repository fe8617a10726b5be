//! The file of `envFile`: a variable per line, as editors read it.

/// Returns the variables of a file, in its order. Lines without an assignment are skipped.
pub(super) fn read(text: &str) -> impl Iterator<Item = (String, String)> {
    text.lines().filter_map(|line| {
        let trimmed = line.trim();
        let assignment = trimmed.strip_prefix("export ").unwrap_or(trimmed);
        let is_comment = assignment.starts_with('#');
        let (name, value) = assignment.split_once('=').filter(|_| !is_comment)?;
        Some((name.trim().to_owned(), unquoted(value.trim())))
    })
}

/// Returns a value without its quotes, or without the comment behind it.
fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        let within = value
            .strip_prefix(quote)
            .and_then(|it| it.split_once(quote));
        if let Some((within, _)) = within {
            return match quote {
                '"' => within.replace("\\n", "\n"),
                _ => within.to_owned(),
            };
        }
    }
    let end = value.find(" #").unwrap_or(value.len());
    value[..end].trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_are_read_as_editors_read_them() {
        let text =
            "# c\nA=from the file\nexport B = \"x # y\" # z\nC='1' \n\nno line\nD=1 # one\nE=\n";
        let found: Vec<_> = super::read(text).collect();
        let expected = [
            ("A", "from the file"),
            ("B", "x # y"),
            ("C", "1"),
            ("D", "1"),
            ("E", ""),
        ];
        assert_eq!(
            found,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}
