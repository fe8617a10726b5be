//! Shows a page to a person: on standard error, and in a browser if there is one; and takes the address at which a browser on
//! another machine ends.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Once;
use std::time::Duration;

use mcp_revisions::auth::DevicePage;

use crate::stderr;

/// Maximum time for the answer to an address that a person has pasted: that of the sign-in's last request and some more.
const ANSWER_TIME: Duration = Duration::from_secs(40);

/// Shows the page and the code of a sign-in on another device, on standard error.
pub(super) fn show_code(page: &DevicePage) {
    let DevicePage { url, code, .. } = page;
    stderr::tell(&format!(
        "to sign in, open this page on any device, and enter or compare the code {code}:\n{url}\n"
    ));
}

/// The way that pages are shown.
#[derive(Clone, Copy)]
pub(super) struct PageScreen {
    /// Set if a browser may be started.
    pub(super) opens: bool,
    /// Set if standard input has the addresses that a person pastes.
    pub(super) takes_addresses: bool,
}

impl PageScreen {
    /// Shows a page. Its URL is `https`, or `http` on this machine; no shell sees it.
    pub(super) fn show(self, page: &str) {
        let opens = self.opens && has_display();
        let note = if opens {
            "opening a browser to sign in; if none opens, open this page"
        } else {
            "to sign in, open this page in a browser on this machine"
        };
        self.tell(note, page);
        if opens {
            open(page);
        }
    }

    /// Shows a page that is open already, of this program or of another one.
    pub(super) fn show_again(self, page: &str) {
        self.tell(
            "a sign-in waits at this page, which was opened before",
            page,
        );
    }

    fn tell(self, note: &str, page: &str) {
        stderr::tell(&format!("{note}:\n{page}\n"));
        let port = redirect_port(page);
        let is_remote = !has_display() || has("SSH_CONNECTION") || has("SSH_TTY");
        if let Some(port) = port.filter(|_| is_remote) {
            let paste = if self.takes_addresses {
                "paste the address at which it ends here"
            } else {
                "paste the address at which it ends into `mcp-rev login` for the same server"
            };
            stderr::tell(&format!(
                "for a browser on another machine, run `ssh -L {port}:127.0.0.1:{port}` to this machine there first, or {paste}, or \
                 sign in with --auth device\n"
            ));
        }
        if self.takes_addresses {
            take_addresses();
        }
    }
}

fn has(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|it| !it.is_empty())
}

fn has_display() -> bool {
    let needs_display = cfg!(all(unix, not(target_os = "macos")));
    !needs_display || has("DISPLAY") || has("WAYLAND_DISPLAY")
}

/// Returns the port that the browser comes back to from a page.
fn redirect_port(page: &str) -> Option<u16> {
    let (_, redirect) = page.split_once("redirect_uri=http%3A%2F%2F")?;
    let (_, port) = redirect.split('&').next()?.split_once("%3A")?;
    port.split('%').next()?.parse().ok()
}

/// Reads the addresses that a person pastes, once.
fn take_addresses() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        std::thread::spawn(|| {
            for line in std::io::stdin().lines().map_while(Result::ok) {
                let address = line.trim();
                if !address.is_empty()
                    && let Err(why) = hand_in(address)
                {
                    stderr::tell(&format!("{why}\n"));
                }
            }
        });
    });
}

/// Hands in an address at which a browser ended: asks the listener of the sign-in for it, as the browser would have.
fn hand_in(address: &str) -> Result<(), String> {
    let expected =
        "expected the address at which the browser ended, http://127.0.0.1:PORT/callback?..";
    let rest = address.strip_prefix("http://").ok_or(expected)?;
    let (host, reference) = rest.split_once('/').ok_or(expected)?;
    let target = reference.split('#').next().unwrap_or_default();
    let (name, digits) = host.rsplit_once(':').ok_or(expected)?;
    let is_here = name == "127.0.0.1" || name.eq_ignore_ascii_case("localhost");
    let port: u16 = digits.parse().map_err(|_| expected)?;
    let is_target =
        target.starts_with("callback?") && target.bytes().all(|it| it.is_ascii_graphic());
    if !is_here || !is_target {
        return Err(expected.to_owned());
    }
    let failed = |error: std::io::Error| format!("no sign-in waits at port {port}: {error}");
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
    stream.set_read_timeout(Some(ANSWER_TIME)).map_err(failed)?;
    let request = format!("GET /{target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut answer = Vec::new();
    (stream.take(16 << 10))
        .read_to_end(&mut answer)
        .map_err(failed)?;
    let answer = String::from_utf8_lossy(&answer);
    if answer.starts_with("HTTP/1.1 200") {
        return Ok(());
    }
    let words = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
    Err(format!("the address is not taken: {}", words.trim()))
}

/// Opens a page in a browser.
fn open(page: &str) {
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
