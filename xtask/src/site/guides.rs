//! The guides as pages of the site.

use std::path::Path;

use mcp_revisions_schema::Error;
use mcp_revisions_schema::sorted::SortedSet;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

/// The file of the table of contents, which is a guide as well.
const CONTENTS: &str = "SUMMARY.md";

/// A guide as a page.
#[derive(Default)]
pub(super) struct Guide {
    /// The first heading.
    pub(super) title: String,
    /// The text as markup.
    pub(super) markup: String,
    /// The names of the pictures that it shows.
    pub(super) pictures: Vec<String>,
}

/// Reads the guides of a folder, by the names of their pages. Fails for a guide that cannot be read.
pub(super) fn read(dir: &Path) -> Result<Vec<(String, Guide)>, Error> {
    let entries = std::fs::read_dir(dir).map_err(|cause| Error::io("read", dir, cause))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let guides = names.filter(|name| name.ends_with(".md"));
    let names: SortedSet<String> = guides.chain([CONTENTS.to_owned()]).collect();
    let guides = names.iter().map(|name| {
        let path = dir.join(name);
        let text =
            std::fs::read_to_string(&path).map_err(|cause| Error::io("read", &path, cause))?;
        Ok((page_of(name), Guide::of(&text, &names)))
    });
    guides.collect()
}

/// Returns the name of a guide's page.
fn page_of(name: &str) -> String {
    format!("{}.html", name.trim_end_matches(".md"))
}

impl Guide {
    /// Renders a text; `guides` are the names of the guides beside it. HTML in it is shown as text.
    pub(super) fn of(markdown: &str, guides: &SortedSet<String>) -> Self {
        let mut guide = Self::default();
        let mut events: Vec<Event<'_>> =
            Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
        // The heading that is open, and its text.
        let mut heading: Option<(usize, String)> = None;
        let mut anchors: Vec<String> = Vec::new();
        for at in 0..events.len() {
            match &mut events[at] {
                Event::Start(Tag::Heading { .. }) => heading = Some((at, String::new())),
                Event::End(TagEnd::Heading(_)) => {
                    if let Some((start, text)) = heading.take() {
                        let anchor = anchor(&text, &anchors);
                        anchors.push(anchor.clone());
                        if guide.title.is_empty() {
                            guide.title = text;
                        }
                        if let Event::Start(Tag::Heading { id, .. }) = &mut events[start] {
                            *id = Some(anchor.into());
                        }
                    }
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some((_, heading)) = &mut heading {
                        heading.push_str(text);
                    }
                }
                Event::Html(text) | Event::InlineHtml(text) => {
                    let text = std::mem::replace(text, "".into());
                    events[at] = Event::Text(text);
                }
                Event::Start(Tag::Link { dest_url, .. }) => {
                    *dest_url = link(dest_url, guides).into()
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    let is_name = !dest_url.is_empty() && !dest_url.contains(['/', '\\', ':']);
                    if is_name {
                        guide.pictures.push(dest_url.to_string());
                    } else {
                        *dest_url = link(dest_url, guides).into();
                    }
                }
                _ => {}
            }
        }
        let mut markup = String::new();
        html::push_html(&mut markup, events.into_iter());
        // Wide parts scroll by themselves, and keys reach them.
        guide.markup = markup
            .replace("<pre>", "<pre tabindex=\"0\">")
            .replace("<table>", "<div class=\"scroll\" tabindex=\"0\"><table>")
            .replace("</table>", "</table></div>");
        guide
    }
}

/// Returns the anchor of a heading, as links in Markdown name it, numbered if it is taken.
fn anchor(heading: &str, taken: &[String]) -> String {
    let lower = heading.trim().to_lowercase();
    let letters = lower
        .chars()
        .filter(|it| it.is_alphanumeric() || " -_".contains(*it));
    let anchor: String = letters.map(|it| if it == ' ' { '-' } else { it }).collect();
    let numbered = (1..).map(|number| format!("{anchor}-{number}"));
    let mut names = std::iter::once(anchor.clone()).chain(numbered);
    names.find(|name| !taken.contains(name)).unwrap_or(anchor)
}

/// Returns the URL of a link: of a guide its page, of another file the one in the repository, and `#` of what is neither a file
/// nor a page of the web.
fn link(url: &str, guides: &SortedSet<String>) -> String {
    if url.starts_with('#') || url.starts_with("https://") || url.starts_with("http://") {
        return url.to_owned();
    }
    let (path, place) = url.find('#').map_or((url, ""), |at| url.split_at(at));
    if guides.iter().any(|guide| guide == path) {
        return page_of(path) + place;
    }
    if path.contains(':') {
        return "#".to_owned();
    }
    let mut steps = vec!["docs"];
    for step in path.split('/') {
        match step {
            "." | "" => {}
            ".." => drop(steps.pop()),
            step => steps.push(step),
        }
    }
    format!(
        "{}/blob/main/{}{place}",
        env!("CARGO_PKG_REPOSITORY"),
        steps.join("/")
    )
}
