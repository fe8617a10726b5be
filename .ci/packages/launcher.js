#!/usr/bin/env node
// Starts the program of the package for this platform with the same arguments, streams, signals and exit code.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { isatty } = require("node:tty");

const windows = process.platform === "win32";
const platform = `${process.platform}-${process.arch}`;
const name = `mcp-rev-${platform}`;
const file = windows ? "mcp-rev.exe" : "mcp-rev";
let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(
    `mcp-rev: package ${name} is not installed: there is no build for ${platform}, or optional dependencies were left out ` +
      `(npm install --include=optional mcp-rev); cargo install mcp-rev builds it`,
  );
  process.exit(1);
}

// From Node 22.15 on, except on Windows: the program takes the place of this process, and gets each signal once.
const words = process.argv.slice(2);
if (process.execve && !windows) process.execve(program, [program, ...words]);

const child = spawn(program, words, { stdio: "inherit" });
// A terminal signals the program as well: a second signal would end it before its open calls are answered.
const terminal = windows || [0, 1, 2].some(isatty);
for (const signal of ["SIGINT", "SIGHUP"]) {
  process.on(signal, () => terminal || child.kill(signal));
}
process.on("SIGTERM", () => child.kill("SIGTERM"));
child.on("error", (error) => {
  console.error(`mcp-rev: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
