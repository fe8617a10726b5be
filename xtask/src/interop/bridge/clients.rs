//! The clients: what is installed of each, and the program that goes through a plan with it.

use std::path::Path;

use anyhow::Context;

use crate::interop::peers::{Installed, copy};
use crate::process::{cargo, output};
use crate::workspace::root;

/// Puts the program that goes through a plan beside what was installed; returns it, and whether it speaks HTTP.
pub(super) fn prepare(mut client: Installed) -> anyhow::Result<(Installed, bool)> {
    let scripts = root()?.join("tests/interop");
    let Some(script) = client.arguments.first_mut() else {
        // target/debug/client, below the folder of the crate
        let folder = client.program.ancestors().nth(3).context("no folder")?;
        let source = "src/bin/bridged.rs";
        copy(&scripts.join("rmcp").join(source), &folder.join(source))?;
        output(
            cargo("build")
                .args(["--bin", "bridged"])
                .env("CARGO_TARGET_DIR", folder.join("target"))
                .current_dir(folder),
        )?;
        client.program = client.program.with_file_name("bridged");
        return Ok((client, true));
    };
    let name = script.file_name().context("no name")?.to_string_lossy();
    let (folder, scripts) = (script.with_file_name("bridged"), scripts.join("bridge"));
    std::fs::create_dir_all(&folder)?;
    let bridged = name.replace("python_client", "python_bridged");
    for file in [bridged.as_str(), "plan.mjs"] {
        copy(&scripts.join(file), &folder.join(file))?;
    }
    let has_http = has_http(script);
    *script = folder.join(bridged);
    Ok((client, has_http))
}

/// Returns whether what is installed beside a script speaks streamable HTTP: the oldest SDK of TypeScript does not.
pub(super) fn has_http(script: &Path) -> bool {
    let sdk = script.with_file_name("node_modules/@modelcontextprotocol/sdk");
    !sdk.exists() || sdk.join("dist/esm/client/streamableHttp.js").exists()
}
