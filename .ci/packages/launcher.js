#!/usr/bin/env node
// Starts the program of the package for this platform with the same arguments, streams, signals and exit code.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const name = `mcp-rev-${platform}`;
const file = process.platform === "win32" ? "mcp-rev.exe" : "mcp-rev";
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

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`mcp-rev: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
