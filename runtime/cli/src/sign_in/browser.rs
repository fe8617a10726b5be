//! Shows a page to a person: on standard error, and in a browser if there is one.

use std::process::{Command, Stdio};

use mcp_revisions::auth::DevicePage;

use crate::stderr;

/// Shows the page and the code of a sign-in on another device, on standard error.
pub(super) fn show_code(page: &DevicePage) {
    let DevicePage { url, code } = page;
    stderr::tell(&format!(
        "to sign in, open this page on any device, and enter or compare the code {code}:\n{url}\n"
    ));
}

/// Shows a page. Its URL is `https`, or `http` on this machine; no shell sees it.
pub(super) fn show(page: &str, opens: bool) {
    let has_display = cfg!(not(all(unix, not(target_os = "macos"))))
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some());
    let note = match (opens, has_display) {
        (true, true) => "opening a browser to sign in; if none opens, open this page",
        (true, false) => {
            "there is no display for a browser: to sign in, open this page on this machine"
        }
        (false, _) => "to sign in, open this page",
    };
    stderr::tell(&format!("{note}:\n{page}\n"));
    if !opens || !has_display {
        return;
    }
    let mut command = match () {
        () if cfg!(windows) => {
            let mut command = Command::new("rundll32");
            command.arg("url.dll,FileProtocolHandler");
            command
        }
        () if cfg!(target_os = "macos") => Command::new("open"),
        () => Command::new("xdg-open"),
    };
    command
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match command.spawn() {
        // Its end is waited for, so that no dead process stays.
        Ok(mut child) => drop(std::thread::spawn(move || child.wait())),
        Err(error) => stderr::tell(&format!("no browser opens: {error}\n")),
    }
}
