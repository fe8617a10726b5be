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

/// The pages of a list that were read.
#[derive(Debug, Default)]
pub struct ReadPages {
    cursors: HashSet<String>,
    bytes: usize,
}

impl ReadPages {
    /// Takes a page, and returns the params of the request for the next one; `None` if it is the last.
    ///
    /// # Errors
    /// Returns the reason, in words, if the list does not end: a cursor came twice, or it has more than 100 pages or 16 MiB.
    pub fn params_after(&mut self, page: &Json) -> Result<Option<Json>, String> {
        self.bytes += page.text().len();
        let Some(next) = page.get("nextCursor").filter(|cursor| !cursor.is_null()) else {
            return Ok(None);
        };
        if self.bytes > BYTES {
            return Err(format!("it has more than {BYTES} bytes"));
        }
        if self.cursors.len() + 1 >= PAGES {
            return Err(format!("it has more than {PAGES} pages"));
        }
        if !self.cursors.insert(next.text().to_owned()) {
            return Err("the server names a cursor again".to_owned());
        }
        Ok(Some(Json::of(&Map::from_iter([("cursor", next)]))))
    }
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
        let (mut read, mut params) = (ReadPages::default(), None);
        loop {
            let asked = ask(method, params).await;
            let Some(result) = asked.map_err(|why| failed(ListingFault::Request(why)))? else {
                break;
            };
            let next = read.params_after(&result);
            pages.push(ListPage { list, result });
            params = next.map_err(|why| failed(ListingFault::Endless(why)))?;
            if params.is_none() {
                break;
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
