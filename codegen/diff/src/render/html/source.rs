//! Links from a change to the page of the specification that states it.

use crate::{Diff, DiffRow};

/// The part of the path of a page about sign-in.
const SIGN_IN: &str = "basic/authorization";

/// Returns whether a page is about sign-in.
pub(super) fn is_about_sign_in(page: &str) -> bool {
    page.contains(SIGN_IN)
}

/// Returns the URL of the page that states a change: the one that its row names, or the entry of a definition in the reference
/// of a side; `None` if the page is not of the specification's site.
pub(super) fn of_row(diff: &Diff, row: &DiffRow) -> Option<String> {
    if let Some(page) = &row.page {
        return of_page(diff, page);
    }
    let place = row.places.first()?;
    let [old, new] = &diff.references;
    let sides = [(new, &place.new), (old, &place.old)];
    let (reference, name) = sides
        .into_iter()
        .find(|(reference, name)| !reference.is_empty() && !name.is_empty())?;
    let definition = name.split(['.', '[', '{']).next().unwrap_or_default();
    is_plain(definition).then(|| reference.replace("{anchor}", &definition.to_ascii_lowercase()))
}

/// Returns the URL of a page that `spec/` names: `2025-06-18 basic/transports`, or a path in the specification's repository.
pub(super) fn of_page(diff: &Diff, page: &str) -> Option<String> {
    let sites = diff.references.iter();
    let (site, _) =
        (sites.filter_map(|reference| reference.split_once("/specification/"))).next()?;
    let (folder, path) = match page.split_once(' ') {
        Some(words) => words,
        None => {
            let page_of = |folder, form| page.strip_prefix(folder)?.strip_suffix(form);
            let file = page_of("docs/specification/", ".mdx").or_else(|| page_of("schema/", ".ts"));
            file?.split_once('/')?
        }
    };
    let path = path.strip_suffix("/index").unwrap_or(path);
    let is_path = is_plain(folder) && path.split('/').all(is_plain);
    is_path.then(|| format!("{site}/specification/{folder}/{path}"))
}

/// Returns whether a text means nothing but itself in a URL.
fn is_plain(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    !text.is_empty() && text.chars().all(is_plain)
}
