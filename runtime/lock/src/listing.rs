//! The lists of a server, page by page, through any client.

use std::collections::HashSet;

use mcp_wire::{Json, JsonObject, Kind, Map};

use crate::{LISTS, OfferList};

/// Maximum number of pages of a list.
const PAGES: usize = 100;

/// Maximum number of bytes of a list.
const BYTES: usize = 16 << 20;

/// A page of a list.
#[derive(Debug, Clone)]
pub struct ListPage {
    /// The list that it is of.
    pub list: &'static OfferList,
    /// The result, as the server sent it.
    pub result: Json,
}

/// A list that cannot be read to its end.
#[derive(Debug, thiserror::Error)]
#[error("{method}: {why}")]
pub struct ListingError<E> {
    /// The method of the list.
    pub method: &'static str,
    /// The reason.
    pub why: ListingFault<E>,
}

/// The reason why a list cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ListingFault<E> {
    /// The request failed.
    #[error("{0}")]
    Request(E),
    /// The list does not end.
    #[error("the list does not end: {0}")]
    Endless(String),
}

/// Reads the lists that the capabilities of a server declare; `ask` sends a request and returns its result, or `None` if the
/// server does not know the method: that list is empty.
///
/// # Errors
/// Returns an error if a request fails otherwise, if a cursor comes twice, and for a list of more than 100 pages or 16 MiB.
pub async fn read_lists<E>(
    capabilities: &Json,
    mut ask: impl AsyncFnMut(&'static str, Option<Json>) -> Result<Option<Json>, E>,
) -> Result<Vec<ListPage>, ListingError<E>> {
    let declared = |name: &str| {
        let member = capabilities.get(name);
        member.is_some_and(|member| member.kind() == Kind::Object)
    };
    let mut pages = Vec::new();
    for list in LISTS.iter().filter(|list| declared(list.capability)) {
        let method = list.method;
        let failed = |why| ListingError { method, why };
        let endless = |what: String| failed(ListingFault::Endless(what));
        let (mut cursor, mut known, mut bytes) = (None::<Json>, HashSet::new(), 0);
        loop {
            let params = cursor
                .take()
                .map(|cursor| Json::of(&Map::from_iter([("cursor", cursor)])));
            let asked = ask(method, params).await;
            let Some(result) = asked.map_err(|why| failed(ListingFault::Request(why)))? else {
                break;
            };
            bytes += result.text().len();
            cursor = result.get("nextCursor").filter(|cursor| !cursor.is_null());
            pages.push(ListPage { list, result });
            let Some(next) = &cursor else { break };
            if bytes > BYTES {
                return Err(endless(format!("it has more than {BYTES} bytes")));
            }
            if known.len() + 1 >= PAGES {
                return Err(endless(format!("it has more than {PAGES} pages")));
            }
            if !known.insert(next.text().to_owned()) {
                return Err(endless("the server names a cursor again".to_owned()));
            }
        }
    }
    Ok(pages)
}

/// Returns the entries of a page; `None` for a result that has no array of them.
pub(crate) fn entries(page: &ListPage) -> Option<Vec<Json>> {
    let members = JsonObject::try_from(page.result.clone()).ok()?;
    members.get(page.list.member)?.read().ok()
}
