//! A database server, for clients that read, write, export and watch: `cargo run -p mcp-revisions --example database [-- PORT]`
//! serves standard input and output, or HTTP on the port.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use mcp_revisions::args::Uri;
use mcp_revisions::latest as mcp;
use mcp_revisions::serve::Principal;
use mcp_revisions::service::router::Changes;
use mcp_revisions::{Error, Json, McpServer, RequestContext, Router, State, http, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The values of a row, by column.
type Row = BTreeMap<String, String>;

/// The tables by their names, and the clients that hear of their changes.
#[derive(Default)]
struct Database {
    tables: RwLock<BTreeMap<String, Vec<Row>>>,
    changes: Changes,
}

impl Database {
    /// Reads a table.
    fn read<T>(&self, table: &str, read: impl FnOnce(&[Row]) -> T) -> Result<T, Error> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        let rows = tables.get(table);
        let rows = rows.ok_or_else(|| Error::InvalidParams(format!("no table `{table}`")))?;
        Ok(read(rows))
    }

    /// Writes to the tables, and tells that one of them has changed.
    fn write<T>(&self, table: &str, write: impl FnOnce(&mut BTreeMap<String, Vec<Row>>) -> T) -> T {
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        let before = tables.len();
        let written = write(&mut tables);
        if tables.len() != before {
            self.changes.resources();
        }
        self.changes.resource(uri(table));
        written
    }

    fn names(&self) -> Vec<String> {
        let tables = self.tables.read().unwrap_or_else(PoisonError::into_inner);
        tables.keys().cloned().collect()
    }
}

fn uri(table: &str) -> String {
    format!("table://{table}")
}

fn line(row: &Row) -> String {
    let values: Vec<&str> = row.values().map(String::as_str).collect();
    values.join(",")
}

#[derive(Deserialize, JsonSchema)]
struct Table {
    /// Name of the table.
    table: String,
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// Name of the table.
    table: String,
    /// The values that a row must have, by column.
    #[serde(default)]
    matching: Row,
}

#[derive(Serialize, JsonSchema)]
struct Rows {
    rows: Vec<Row>,
}

#[derive(Deserialize, JsonSchema)]
struct Insert {
    /// Name of the table; it is created with its first row.
    table: String,
    row: Row,
}

/// Returns the rows of a table that have these values.
#[tool(read_only)]
async fn query(
    database: State<Database>,
    Query { table, matching }: Query,
) -> Result<Json<Rows>, Error> {
    let fits = |row: &&Row| {
        matching
            .iter()
            .all(|(column, value)| row.get(column) == Some(value))
    };
    let rows = database.read(&table, |rows| rows.iter().filter(fits).cloned().collect())?;
    Ok(Json(Rows { rows }))
}

/// Adds a row to a table.
#[tool(destructive = false)]
async fn insert(database: State<Database>, Insert { table, row }: Insert) -> String {
    let count = database.write(&table, |tables| {
        let rows = tables.entry(table.clone()).or_default();
        rows.push(row);
        rows.len()
    });
    format!("{table} has {count} rows")
}

/// Drops a table, if the user agrees.
#[tool(title = "Drop a table", destructive)]
async fn drop_table(
    database: State<Database>,
    who: Option<Principal>,
    Table { table }: Table,
    cx: RequestContext,
) -> Result<String, Error> {
    let count = database.read(&table, <[Row]>::len)?;
    if !cx
        .confirm(format!("Drop {table} with {count} rows?"))
        .await?
    {
        return Ok(format!("{table} stays"));
    }
    database.write(&table, |tables| tables.remove(&table));
    // Over stdio there is one user, who needs no name.
    let who = who.map_or_else(|| "the user".to_owned(), |Principal(name)| name);
    Ok(format!("{table} is dropped by {who}"))
}

/// Returns a table as CSV, row by row.
#[tool(read_only)]
async fn export(
    database: State<Database>,
    Table { table }: Table,
    cx: RequestContext,
) -> Result<String, Error> {
    let rows = database.read(&table, <[Row]>::to_vec)?;
    // A thread of its own: a large table keeps no other call waiting.
    let csv = cx.blocking(move |call| {
        let numbered = (1_u64..).zip(&rows).take_while(|_| !call.is_cancelled());
        let lines = numbered.map(|(number, row)| {
            call.progress(number, rows.len() as u64);
            line(row)
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    csv.await
}

async fn list(database: State<Database>) -> Vec<mcp::Resource> {
    let names = database.names().into_iter();
    names
        .map(|name| mcp::Resource::new(Uri(uri(&name)), name))
        .collect()
}

async fn read(database: State<Database>, Table { table }: Table) -> Result<String, Error> {
    database.read(&table, |rows| {
        rows.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}

async fn complete(database: State<Database>, typed: String) -> Vec<String> {
    let names = database.names().into_iter();
    names.filter(|name| name.starts_with(&typed)).collect()
}

/// Creates the server, with an empty database.
pub(crate) fn server() -> Result<McpServer, Box<dyn std::error::Error>> {
    let database = Database::default();
    let changes = database.changes.clone();
    let router = Router::new()
        .with_state(database)
        .with_changes(&changes)
        .with_page_size(100)
        .add::<query>()
        .add::<insert>()
        .add::<drop_table>()
        .with_scopes(["tables:drop"])
        .add::<export>()
        .as_task()
        .resource_template("table://{table}", "table", read)
        .described_template(|table| table.with_mime_type("text/csv"))
        .resource_list(list)
        .completion("table://{table}", "table", complete);
    Ok(router.build("database", "1.0.0")?)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (server, grace) = (server()?, Duration::from_secs(10));
    let stop = mcp_revisions::stop_signal()?;
    let Some(port) = std::env::args().nth(1) else {
        return Ok(server.stdio_until(stop, grace).await?);
    };
    let listener = http::bind(("127.0.0.1", port.parse()?)).await?;
    println!("listening on http://{}/mcp", listener.local_addr()?);
    let service = server.into_http_service(http::Options::default());
    http::serve_until(listener, service, stop, grace).await;
    Ok(())
}
