//! Challenges: the values of `WWW-Authenticate` headers (RFC 9110, section 11.6.1), several per header and several headers.

/// One challenge: its scheme and its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// The scheme in lower case, such as `bearer`.
    pub scheme: String,
    /// Names in lower case, and values without quotes.
    pub parameters: Vec<(String, String)>,
}

/// Number of challenges of a response that are read; later ones are ignored.
const CHALLENGES: usize = 16;
/// Number of parameters of a challenge that are read.
const PARAMETERS: usize = 32;

impl Challenge {
    /// Returns the first parameter of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let mut all = self.parameters.iter();
        all.find(|(one, _)| one == name).map(|(_, it)| it.as_str())
    }

    /// Reads all challenges of these header values. Parts that are not valid are skipped.
    pub fn read<'a>(values: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        let mut all = Vec::new();
        for value in values {
            read_value(value, &mut all);
        }
        all
    }

    /// Returns the challenge that a client of MCP follows: the first for tokens that names metadata, scopes or an error, else
    /// the first for tokens.
    #[must_use]
    pub fn choose(all: &[Self]) -> Option<&Self> {
        let is_token = |one: &&Self| one.scheme == "bearer" || one.scheme == "dpop";
        let says = |one: &&Self| {
            ["resource_metadata", "scope", "error"]
                .iter()
                .any(|name| one.get(name).is_some())
        };
        let mut of_tokens = all.iter().filter(is_token);
        of_tokens.clone().find(says).or_else(|| of_tokens.next())
    }
}

fn is_token_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// The rest of a header value.
struct ChallengeText<'a>(&'a str);

impl<'a> ChallengeText<'a> {
    fn skip(&mut self, what: impl Fn(u8) -> bool) {
        let end = self.0.bytes().position(|byte| !what(byte));
        self.0 = self
            .0
            .get(end.unwrap_or(self.0.len())..)
            .unwrap_or_default();
    }

    fn spaces(&mut self) {
        self.skip(|byte| byte == b' ' || byte == b'\t');
    }

    /// Returns a token, which is empty if none stands here.
    fn token(&mut self) -> &'a str {
        let before = self.0;
        self.skip(is_token_char);
        before
            .get(..before.len() - self.0.len())
            .unwrap_or_default()
    }

    /// Takes a character, if it stands here.
    fn take(&mut self, letter: char) -> bool {
        let rest = self.0.strip_prefix(letter);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Returns a value: quoted, or up to the next comma or space.
    fn value(&mut self) -> String {
        if !self.take('"') {
            let before = self.0;
            self.skip(|byte| byte != b',' && byte != b' ' && byte != b'\t');
            let value = before.get(..before.len() - self.0.len());
            return value.unwrap_or_default().to_owned();
        }
        let mut value = String::new();
        let mut letters = self.0.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '"' => break,
                '\\' => value.extend(letters.next()),
                other => value.push(other),
            }
        }
        self.0 = letters.as_str();
        value
    }
}

fn read_value(value: &str, all: &mut Vec<Challenge>) {
    let mut rest = ChallengeText(value);
    let first = all.len();
    loop {
        rest.skip(|byte| byte == b' ' || byte == b'\t' || byte == b',');
        if rest.0.is_empty() || all.len() >= CHALLENGES {
            return;
        }
        let name = rest.token();
        if name.is_empty() {
            // Not valid: on behind the next comma.
            rest.skip(|byte| byte != b',');
            continue;
        }
        let after_name = rest.0;
        rest.spaces();
        if rest.take('=') && !rest.0.starts_with('=') {
            rest.spaces();
            let value = rest.value();
            // A parameter of the challenge before it; without one it belongs to none.
            if let Some(challenge) = all.get_mut(first..).and_then(<[Challenge]>::last_mut)
                && challenge.parameters.len() < PARAMETERS
            {
                let parameter = (name.to_ascii_lowercase(), value);
                challenge.parameters.push(parameter);
            }
            continue;
        }
        rest.0 = after_name;
        all.push(Challenge {
            scheme: name.to_ascii_lowercase(),
            parameters: Vec::new(),
        });
        rest.spaces();
        // Credentials as one text (token68) are of no use here.
        let before = rest.0;
        rest.skip(|byte| is_token_char(byte) || byte == b'/');
        rest.skip(|byte| byte == b'=');
        rest.spaces();
        if !(rest.0.is_empty() || rest.0.starts_with(',')) || before.starts_with(',') {
            rest.0 = before;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test says what it found and stops")]

    use super::*;

    #[test]
    fn challenges_are_read_however_they_are_written() {
        for (headers, expected) in [
            (vec!["Bearer"], "bearer[]"),
            (
                vec![r#"Bearer resource_metadata="https://a/b", scope="x y""#],
                "bearer[resource_metadata=https://a/b;scope=x y]",
            ),
            (
                vec![r#"Basic realm="a, b", Bearer error="x\"y""#],
                "basic[realm=a, b] bearer[error=x\"y]",
            ),
            (
                vec!["Negotiate YII=, Bearer scope=x"],
                "negotiate[] bearer[scope=x]",
            ),
            (
                vec!["Bearer realm=\"x\"", "DPoP Algs=ES256"],
                "bearer[realm=x] dpop[algs=ES256]",
            ),
            (
                vec!["bEaReR  scope = \"x\" ,error=e"],
                "bearer[scope=x;error=e]",
            ),
            (
                vec!["Bearer scope=\"never ends"],
                "bearer[scope=never ends]",
            ),
            (vec![",,, ;;;, Bearer é=1, Basic"], "bearer[] basic[]"),
            (vec!["", "scope=1"], ""),
        ] {
            let read = Challenge::read(headers.iter().copied());
            let shown: Vec<String> = read
                .iter()
                .map(|one| {
                    let parameters: Vec<String> = (one.parameters.iter())
                        .map(|(name, value)| format!("{name}={value}"))
                        .collect();
                    format!("{}[{}]", one.scheme, parameters.join(";"))
                })
                .collect();
            assert_eq!(shown.join(" "), expected, "{headers:?}");
        }
    }

    #[test]
    fn the_challenge_with_metadata_is_followed_wherever_it_stands() {
        let all = Challenge::read([
            "Bearer realm=\"x\"",
            "Bearer resource_metadata=\"https://a\"",
        ]);
        let chosen = Challenge::choose(&all).unwrap();
        assert_eq!(chosen.get("resource_metadata"), Some("https://a"));
        assert_eq!(Challenge::choose(&Challenge::read(["Basic realm=x"])), None);
    }
}
