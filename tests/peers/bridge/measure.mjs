// Measures what stands between a client and a server over HTTP: `node measure.mjs MCP-REV PEER MCP-REMOTE`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [bridge, peer, remote] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(join(remote, 'package.json'), 'utf8'));
const proxy = join(remote, Object.values(manifest.bin)[0]);
const REVISION = '2025-11-25';
const CALLS = 3000;
const CLIENTS = 1000;
const children = [];

const initialize = {
  protocolVersion: REVISION, capabilities: {}, clientInfo: { name: 'measure', version: '1' },
};
const add = { name: 'add', arguments: { a: 1, b: 2 } };

function start(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], ...options });
  children.push(child);
  return child;
}

/** The address that a program says it listens at. */
function address(child) {
  return new Promise((found, fail) => {
    for (const output of [child.stdout, child.stderr]) {
      createInterface({ input: output }).on('line', (line) => {
        const url = line.match(/http:\/\/[0-9.:]+\/mcp/);
        if (url) found(url[0]);
      });
    }
    child.on('exit', () => fail(new Error('ended before it listened')));
  });
}

/** A client over stdio. */
function overStdio(program, args, options) {
  const child = start(program, args, options);
  child.stderr.resume();
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  let last = 0;
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    pid: child.pid,
    notify: (method) => say({ method }),
    ask: (method, params) => new Promise((answered) => {
      last += 1;
      waiting.set(last, answered);
      say({ id: last, method, params });
    }),
    end: () => child.kill(),
  };
}

/** A client over HTTP with a session of its own. */
function overHttp(url, agent = new http.Agent({ keepAlive: true, maxSockets: 64 })) {
  let session;
  let last = 0;
  const post = (message) => new Promise((answered, fail) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const headers = {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
      Accept: 'application/json, text/event-stream',
      'MCP-Protocol-Version': REVISION,
      ...(session ? { 'Mcp-Session-Id': session } : {}),
    };
    const request = http.request(url, { method: 'POST', agent, headers }, (response) => {
      session ??= response.headers['mcp-session-id'];
      let text = '';
      response.on('data', (chunk) => { text += chunk; });
      response.on('end', () => answered(text));
    });
    request.on('error', fail);
    request.end(body);
  });
  return {
    notify: (method) => post({ method }),
    ask: async (method, params) => {
      last += 1;
      const text = await post({ id: last, method, params });
      return JSON.parse(text.startsWith('{') ? text : text.match(/^data: (.+)$/m)[1]);
    },
  };
}

async function open(client) {
  const { result } = await client.ask('initialize', initialize);
  if (!result) throw new Error('no session');
  await client.notify('notifications/initialized');
  return client;
}

async function call(client) {
  const { result } = await client.ask('tools/call', add);
  if (result?.content[0].text !== '3') throw new Error('a wrong answer');
}

/** Microseconds of calls one after the other, and calls a second with 32 out at a time. */
async function measured(client) {
  for (let warm = 0; warm < 300; warm += 1) await call(client);
  const times = [];
  for (let round = 0; round < CALLS; round += 1) {
    const began = process.hrtime.bigint();
    await call(client);
    times.push(Number(process.hrtime.bigint() - began) / 1000);
  }
  times.sort((one, other) => one - other);
  const began = process.hrtime.bigint();
  let left = CALLS;
  await Promise.all(Array.from({ length: 32 }, async () => {
    while (left > 0) {
      left -= 1;
      await call(client);
    }
  }));
  const took = Number(process.hrtime.bigint() - began) / 1e9;
  return { p50: times[CALLS / 2], p99: times[Math.floor(CALLS * 0.99)], second: CALLS / took };
}

/** Resident memory in MB. */
function memory(pid) {
  const found = readFileSync(`/proc/${pid}/status`, 'utf8').match(/VmRSS:\s+(\d+)/);
  return Number(found[1]) / 1024;
}

const server = start(peer, ['--http', '0']);
const url = await address(server);
const through = {
  'mcp-rev bridge': () => overStdio(bridge, ['bridge', '--loss-log', 'off', '--log', 'off', url]),
  [`mcp-remote ${manifest.version}`]: () => overStdio('node', [proxy, url, '--allow-http', '--transport', 'http-only'], {
    env: { ...process.env, MCP_REMOTE_CONFIG_DIR: mkdtempSync(join(tmpdir(), 'mcp-remote-')) },
  }),
};

const direct = await measured(await open(overHttp(url)));
console.log('| between | p50 | p99 | added p50 | added p99 | calls/s, 32 out | memory of one client |');
console.log('|---|---|---|---|---|---|---|');
const us = (time) => `${time.toFixed(0)} µs`;
console.log(`| nothing (HTTP) | ${us(direct.p50)} | ${us(direct.p99)} | | | ${direct.second.toFixed(0)} | |`);
for (const [name, make] of Object.entries(through)) {
  const client = await open(make());
  const { p50, p99, second } = await measured(client);
  const row = [name, us(p50), us(p99), us(p50 - direct.p50), us(p99 - direct.p99), second.toFixed(0), `${memory(client.pid).toFixed(1)} MB`];
  console.log(`| ${row.join(' | ')} |`);
  client.end();
}

// Many clients: one process of ours for all of them; the other has a process a client, of which ten are measured.
const listener = start(bridge, ['bridge', '--loss-log', 'off', '--log', 'info', '--listen', 'http://127.0.0.1:0/mcp', '--max-servers', '2000', '--max-servers-per-client', '2000', url]);
const front = await address(listener);
const empty = memory(listener.pid);
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
const clients = [];
for (let batch = 0; batch < CLIENTS / 50; batch += 1) {
  clients.push(...await Promise.all(Array.from({ length: 50 }, () => open(overHttp(front, agent)))));
}
for (const client of clients) await call(client);
console.log(`\nmcp-rev bridge, ${CLIENTS} clients over HTTP with a session each: ${memory(listener.pid).toFixed(0)} MB in one process (${empty.toFixed(0)} MB without any)`);
const [name, make] = Object.entries(through)[1];
const ten = await Promise.all(Array.from({ length: 10 }, () => open(make())));
const each = ten.reduce((sum, client) => sum + memory(client.pid), 0) / ten.length;
console.log(`${name}: ${each.toFixed(0)} MB a client (mean of ten processes), so ${(each * CLIENTS / 1000).toFixed(0)} GB for ${CLIENTS}`);
for (const child of children) child.kill();
process.exit(0);
