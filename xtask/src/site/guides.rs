//! The guides as pages of the site.

use std::path::Path;

use mcp_revisions_schema::Error;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd, html};

use super::SiteFiles;

/// The table of contents of the guides.
const CONTENTS: &str = "SUMMARY.md";
/// The guide that a folder shows.
const FIRST: &str = "README.md";

/// A guide as a page.
pub(super) struct Guide {
    /// The name of the page's file.
    pub(super) file: String,
    /// The first heading.
    pub(super) title: String,
    /// The table of contents and the text, as markup.
    pub(super) markup: String,
    /// The pictures that it shows, by their names.
    pub(super) pictures: SiteFiles,
}

/// Reads the guides of a folder. Fails for a guide or a picture that cannot be read.
pub(super) fn read(dir: &Path) -> Result<Vec<Guide>, Error> {
    let entries = std::fs::read_dir(dir).map_err(|cause| Error::io("read", dir, cause))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    names.sort();
    let contents = RenderedGuide::of(&text(&dir.join(CONTENTS))?, &names).markup;
    let guides = names.iter().filter(|name| *name != CONTENTS).map(|name| {
        let rendered = RenderedGuide::of(&text(&dir.join(name))?, &names);
        let mut pictures = SiteFiles::new();
        for picture in rendered.pictures {
            let path = dir.join(&picture);
            let content = std::fs::read(&path).map_err(|cause| Error::io("read", &path, cause))?;
            pictures.insert(picture, content);
        }
        let markup = rendered.markup;
        Ok(Guide {
            file: file_of(name),
            title: rendered.title,
            markup: format!(
                "<details class=\"contents\"><summary>All guides</summary>{contents}</details>\n<article class=\"guide\">{markup}</article>"
            ),
            pictures,
        })
    });
    guides.collect()
}

fn text(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|cause| Error::io("read", path, cause))
}

/// Returns the name of a guide's page.
fn file_of(name: &str) -> String {
    match name.strip_suffix(".md") {
        Some(_) if name == FIRST => "index.html".to_owned(),
        Some(stem) => format!("{stem}.html"),
        None => name.to_owned(),
    }
}

/// A text in Markdown as markup.
#[derive(Default)]
pub(super) struct RenderedGuide {
    title: String,
    pub(super) markup: String,
    pictures: Vec<String>,
}

impl RenderedGuide {
    /// Renders a text; `guides` are the names of the guides beside it. HTML in it is shown as text.
    pub(super) fn of(markdown: &str, guides: &[String]) -> Self {
        let mut rendered = Self::default();
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
                        if rendered.title.is_empty() {
                            rendered.title = text;
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
                        rendered.pictures.push(dest_url.to_string());
                    } else {
                        *dest_url = link(dest_url, guides).into();
                    }
                }
                _ => {}
            }
        }
        let mut markup = String::new();
        html::push_html(&mut markup, events.into_iter());
        // What is wider than a phone scrolls by itself, and keys reach it.
        rendered.markup = markup
            .replace("<pre>", "<pre tabindex=\"0\">")
            .replace("<table>", "<div class=\"scroll\" tabindex=\"0\"><table>")
            .replace("</table>", "</table></div>");
        rendered
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
fn link(url: &str, guides: &[String]) -> String {
    if url.starts_with('#') || url.starts_with("https://") || url.starts_with("http://") {
        return url.to_owned();
    }
    let (path, place) = url.find('#').map_or((url, ""), |at| url.split_at(at));
    if guides.iter().any(|guide| guide == path) {
        return file_of(path) + place;
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
