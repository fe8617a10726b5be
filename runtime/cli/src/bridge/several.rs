//! The servers of a configuration file, each at a path of its own or all as one, and its reload.

use std::path::Path;
use std::time::Duration;

use mcp_bridge::{Bridge, Gateway, ServerDirectory};
use mcp_revisions::http;
use tracing::{error, info};

use super::config::{Config, Definition};
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
    definitions: Vec<Definition>,
}

impl Several<'_> {
    /// Serves what the file says, and leaves a server alone whose definition is the one that it has.
    ///
    /// # Errors
    /// Returns an error if the file cannot be used: all stays as it is then.
    fn load(&mut self) -> anyhow::Result<()> {
        let config = Config::read(self.file)?;
        // A server that cannot be served is found before another one is ended.
        let bridges = config
            .servers
            .iter()
            .filter(|it| !self.definitions.contains(it));
        let built: Result<Vec<_>, Failed> = bridges
            .map(|definition| {
                let upstream = super::defined(definition, self.arguments, self.files)?;
                let bridge =
                    super::set_up(self.arguments, self.files, upstream, Some(&definition.name));
                Ok((definition.clone(), bridge))
            })
            .collect();
        let bridges = built.map_err(|failed| failed.error)?;
        for note in &config.notes {
            info!("{}: {note}", self.file.display());
        }
        let stays = |it: &Definition| config.servers.contains(it);
        for gone in self.definitions.iter().filter(|it| !stays(it)) {
            self.served.remove(&gone.name);
        }
        self.definitions.retain(|it| stays(it));
        for (definition, bridge) in bridges {
            match self.served.insert(&definition.name, bridge) {
                Ok(()) => self.definitions.push(definition),
                Err(why) => anyhow::bail!("{}: {why}", self.file.display()),
            }
        }
        let names: Vec<&str> = config.servers.iter().map(|it| it.name.as_str()).collect();
        info!(
            "{}: {} servers: {}",
            self.file.display(),
            names.len(),
            names.join(", ")
        );
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
            definitions: Vec::new(),
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
    let options = listen::options(*address, path, arguments).map_err(Failed::place)?;
    let served = if arguments.combine {
        ServedAddress::Together(gateway(arguments, files))
    } else {
        ServedAddress::Apart(ServerDirectory::new(options.clone()))
    };
    let mut several = load(served.clone())?;
    let listener = http::bind(*address).await.map_err(Failed::place)?;
    let mut stop = Box::pin(listen::terminated_to_end());
    tokio::select! {
        biased;
        () = &mut stop => return Ok(()),
        () = std::future::ready(()) => {}
    }
    let local = listener.local_addr().map_err(Failed::place)?;
    let serving = async {
        match &served {
            ServedAddress::Together(gateway) => {
                info!("listening on http://{local}{path}");
                gateway
                    .serve(listener, options, stop, GRACE)
                    .await
                    .map_err(Failed::server)
            }
            ServedAddress::Apart(directory) => {
                info!(
                    "listening on http://{local}/NAME/mcp, with the list of servers at http://{local}/"
                );
                directory.serve(listener, stop, GRACE).await;
                Ok(())
            }
        }
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
    let log = files.log.clone();
    let mut gateway = Gateway::builder()
        .with_unknown_fields(arguments.unknown_fields.into())
        .on_loss(move |report| log.write(report, None));
    if !arguments.client_revisions.is_empty() {
        let revisions = arguments.client_revisions.iter().copied();
        gateway = gateway.with_client_revisions(revisions.collect());
    }
    if let Some(seconds) = arguments.list_timeout {
        gateway = gateway.with_list_time(Duration::from_secs(seconds as u64));
    }
    if let Some(severity) = arguments.reject_loss {
        gateway = gateway.with_rejected_loss(severity.into());
    }
    if let Some(limit) = &files.rate_limit {
        gateway = gateway.with_rate_limit(limit.clone());
    }
    if let Some(number) = arguments.max_servers {
        gateway = gateway.with_max_sessions(number);
    }
    if let Some(number) = arguments.max_servers_per_client {
        gateway = gateway.with_max_sessions_per_client(number);
    }
    // A second signal; SIGHUP is another request where the file is read again.
    gateway = match arguments.listen {
        Listen::Stdio => gateway.with_early_end(listen::signalled()),
        Listen::Http(..) => gateway.with_early_end(listen::terminated()),
    };
    gateway.build()
}
