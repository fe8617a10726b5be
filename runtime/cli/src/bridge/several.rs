//! The servers of a configuration file, each at a path of its own or all as one, and its reload.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcp_bridge::config::{Config, ServerEntry};
use mcp_bridge::{Bridge, Gateway, ServerDirectory};
use mcp_revisions::service::lock;
use mcp_wire::{EXCERPT, excerpt};
use tracing::{error, info};

use super::entry;
use super::listen::{self, GRACE};
use super::{Arguments, BridgeFiles, Failed, Listen};

/// The address of the servers.
#[derive(Clone)]
enum ServedAddress {
    /// Each at a path of its own.
    Apart(ServerDirectory),
    /// All as one.
    Together(Gateway),
}

impl ServedAddress {
    fn insert(&self, name: &str, bridge: Bridge) -> Result<(), mcp_bridge::Error> {
        match self {
            Self::Apart(directory) => directory.insert(name, bridge),
            Self::Together(gateway) => gateway.insert(name, bridge),
        }
    }

    /// Removes a server, and lets it end.
    fn remove(&self, name: &str) {
        match self {
            Self::Apart(directory) => drop(tokio::spawn(directory.remove(name, GRACE))),
            Self::Together(gateway) => drop(tokio::spawn(gateway.remove(name, GRACE))),
        }
    }
}

/// The servers of a file that are served now.
struct Several<'s> {
    file: &'s Path,
    arguments: &'s Arguments,
    files: &'s BridgeFiles,
    served: ServedAddress,
    entries: Vec<ServerEntry>,
}

impl Several<'_> {
    /// Serves what the file says, and leaves a server alone whose entry is the one that it has. An entry that cannot be used is
    /// a server whose clients get the reason. Returns an error if the file cannot be used: all stays as it is then.
    fn load(&mut self) -> anyhow::Result<()> {
        let (config, file) = (Config::read(self.file)?, self.file.display());
        for note in &config.notes {
            info!("{file}: {note}");
        }
        let mut wrong = String::new();
        for (name, why) in config.mistakes() {
            let name = excerpt(name, EXCERPT);
            error!("{file}: server `{name}` cannot be used: {why}");
            wrong.push_str(&format!("\n{name}: {why}"));
        }
        *lock(&self.files.wrong) = wrong;
        self.files.variables.replace(config.variables.clone());
        let errors = config.serve(
            &mut self.entries,
            |name| self.served.remove(name),
            |entry| {
                let bridge = entry::bridge_of_file(entry, self.arguments, self.files);
                self.served.insert(&entry.name, bridge)
            },
        );
        for why in errors {
            error!("{file}: {why}");
        }
        let names = self.entries.iter().map(|entry| {
            let (name, written) = (excerpt(&entry.name, EXCERPT), Gateway::prefix(&entry.name));
            if written == entry.name {
                name
            } else {
                format!("{name} (as {written})")
            }
        });
        let names: Vec<String> = names.collect();
        info!("{file}: {} servers: {}", names.len(), names.join(", "));
        Ok(())
    }

    /// Reads the file again for each signal to do so.
    async fn reload(&mut self) {
        listen::each_hangup(|| match self.load() {
            Ok(()) => {}
            Err(why) => error!("not loaded again, and the servers stay as they are: {why:#}"),
        })
        .await;
    }
}

/// Serves the servers of a file until the bridge receives a signal to end.
pub(super) async fn bridged(
    file: &Path,
    arguments: &Arguments,
    files: &BridgeFiles,
) -> Result<(), Failed> {
    let load = |served| {
        let mut several = Several {
            file,
            arguments,
            files,
            served,
            entries: Vec::new(),
        };
        several.load().map(|()| several).map_err(Failed::place)
    };
    let Listen::Http(address, path) = &arguments.listen else {
        let gateway = gateway(arguments, files);
        load(ServedAddress::Together(gateway.clone()))?;
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        let served = gateway.serve_stdio(input, output, listen::signalled_to_end());
        return served.await.map_err(Failed::server);
    };
    let wrong = Arc::clone(&files.wrong);
    let options = listen::options(address, path, arguments)
        .map_err(Failed::place)?
        .with_health_report(move || lock(&wrong).clone());
    let served = if arguments.combine {
        ServedAddress::Together(gateway(arguments, files))
    } else {
        ServedAddress::Apart(ServerDirectory::new(options.clone()))
    };
    let mut several = load(served.clone())?;
    let listener = address.bind().await.map_err(Failed::place)?;
    let mut stop = Box::pin(listen::terminated_to_end());
    tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        () = std::future::ready(()) => {}
    }
    let local = listener.to_string();
    let serving = async {
        match &served {
            ServedAddress::Together(gateway) => {
                info!("listening on {local}{path}");
                let service = gateway.service(options).map_err(Failed::server)?;
                service.serve(listener, stop, GRACE).await;
            }
            ServedAddress::Apart(directory) => {
                info!("listening on {local}/NAME/mcp, with the list of servers at {local}/");
                directory.serve(listener, stop, GRACE).await;
            }
        }
        Ok(())
    };
    tokio::select! {
        biased;
        // The signal is caught before anybody reads that the bridge listens.
        () = several.reload() => Ok(()),
        served = serving => served,
    }
}

/// Returns the end towards clients of all servers as one.
fn gateway(arguments: &Arguments, files: &BridgeFiles) -> Gateway {
    let mut clients = arguments.clients(files, None);
    if let Some(limit) = &files.rate_limit {
        clients = clients.with_rate_limit(limit.clone());
    }
    let mut gateway = Gateway::builder().with_clients(clients);
    if let Some(seconds) = arguments.list_timeout {
        gateway = gateway.with_list_timeout(Duration::from_secs(seconds as u64));
    }
    gateway.build()
}
