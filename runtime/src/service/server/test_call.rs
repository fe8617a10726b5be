//! A call without a transport, for tests of handlers. Features `client` and `router`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use mcp_revisions_core::{Latest, latest as mcp};
use mcp_wire::args::Version;
use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::{RequestContext, Server};
use crate::service::client::{Client, ClientContext, Log, Progress};
use crate::service::{Error, LogLevel};
use crate::transport::panics::lock;
use crate::transport::spawn::spawn;

/// The client of a call that [`RequestContext::for_test`] makes.
#[derive(Debug)]
pub struct TestCall {
    shared: Arc<Shared>,
    client: JoinHandle<()>,
}

/// The messages that a handler has sent to its client, in order.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct TestRecord {
    /// Its progress.
    pub progress: Vec<Progress>,
    /// Its logs.
    pub logs: Vec<Log>,
    /// The messages of the forms by which it has asked the user.
    pub questions: Vec<String>,
}

#[derive(Debug, Default)]
struct Shared {
    record: Mutex<TestRecord>,
    answers: Mutex<VecDeque<Value>>,
    is_done: Notify,
}

/// The client, which answers questions.
struct TestClient(Arc<Shared>);

impl mcp::ClientHandlers<ClientContext<Latest>> for TestClient {
    async fn elicit(
        &self,
        params: mcp::ElicitRequestParams,
        _: ClientContext<Latest>,
    ) -> Result<mcp::ElicitResult, Error> {
        if let mcp::ElicitRequestParams::Form(form) = params {
            lock(&self.0.record).questions.push(form.message);
        }
        match lock(&self.0.answers).pop_front() {
            Some(content) => {
                let content = mcp_wire::Json::from(content).read()?;
                Ok(mcp::ElicitResult::new(mcp::ElicitAction::Accept).with_content(content))
            }
            None => Ok(mcp::ElicitResult::new(mcp::ElicitAction::Decline)),
        }
    }
}

/// The server, whose only tool hands its context over and waits for the end of the test.
struct TestServer {
    contexts: mpsc::UnboundedSender<RequestContext<Latest>>,
    shared: Arc<Shared>,
}

impl mcp::ServerHandlers<RequestContext<Latest>> for TestServer {
    async fn call_tool(
        &self,
        _: mcp::CallToolRequestParams,
        cx: RequestContext<Latest>,
    ) -> Result<mcp::CallToolOutcome, Error> {
        // A test that is over takes no context.
        let _ = self.contexts.send(cx);
        self.shared.is_done.notified().await;
        Ok(mcp::CallToolResult::new(Vec::new()).into())
    }
}

impl TestCall {
    /// Answers the next form by which the handler asks the user, with this content. A form without an answer is declined.
    pub fn answer(&self, content: Value) {
        lock(&self.shared.answers).push_back(content);
    }

    /// Ends the call and returns what its handler has sent.
    /// If the future is dropped, the call ends all the same.
    pub async fn end(self) -> TestRecord {
        self.shared.is_done.notify_one();
        let _ = self.client.await;
        lock(&self.shared.record).clone()
    }
}

impl RequestContext<Latest> {
    /// Makes a call without a transport, for a test of a handler: its context, and its client, which answers questions and
    /// records what the handler sends.
    /// Dropping the future ends the call.
    ///
    /// ```
    /// # use mcp_revisions::service::{Error, RequestContext};
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Profile {
    ///     name: String,
    /// }
    ///
    /// async fn greet(cx: RequestContext) -> Result<String, Error> {
    ///     let Profile { name } = cx.elicit("Who are you?").await?;
    ///     cx.progress(1, 1).await;
    ///     Ok(format!("Hello, {name}."))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Error> {
    /// let (cx, call) = RequestContext::for_test().await?;
    /// call.answer(serde_json::json!({"name": "Ada"}));
    /// assert_eq!(greet(cx).await?, "Hello, Ada.");
    /// let record = call.end().await;
    /// assert_eq!((record.questions.len(), record.progress.len()), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns an error if the client in the process cannot make the call.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    pub async fn for_test() -> Result<(Self, TestCall), Error> {
        let info = mcp::Implementation::new("test", Version("1"));
        let (contexts, mut taken) = mpsc::unbounded_channel();
        let shared = Arc::<Shared>::default();
        let server = TestServer {
            contexts,
            shared: Arc::clone(&shared),
        };
        let server = Server::<Latest>::new(&info)
            .build(server)
            .map_err(Error::internal)?;
        let builder = Client::builder(&info).with_handlers(TestClient(Arc::clone(&shared)));
        let client = server.client(builder);
        let (progress, logs) = (Arc::clone(&shared), Arc::clone(&shared));
        let calls = client
            .within(None)
            .with_log_level(LogLevel::Debug)
            .on_progress(move |one| lock(&progress.record).progress.push(one))
            .on_log(move |one| lock(&logs.record).logs.push(one));
        let client = spawn(async move {
            let params = mcp::CallToolRequestParams::new("test");
            let _ = mcp::CallServer::call_tool(&calls, params).await;
        });
        let gone = || Error::internal("the call of the test did not arrive");
        let cx = taken.recv().await.ok_or_else(gone)?;
        Ok((cx, TestCall { shared, client }))
    }
}
