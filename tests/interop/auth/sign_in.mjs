// The sign-in of a TypeScript SDK: names the page on standard error, and waits for the browser to come back to a listener.
import http from 'node:http';
import { steps } from './steps.mjs';

export async function run(connection, isUnauthorized) {
  const listener = http.createServer();
  const returned = new Promise((resolve) => {
    listener.on('request', (request, response) => {
      response.end('signed in');
      resolve(new URL(request.url, 'http://127.0.0.1').searchParams);
    });
  });
  await new Promise((listening) => listener.listen(0, '127.0.0.1', listening));
  const redirect = `http://127.0.0.1:${listener.address().port}/callback`;
  const kept = {};
  const provider = {
    redirectUrl: redirect,
    clientMetadata: {
      client_name: 'interop',
      redirect_uris: [redirect],
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'read',
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => { kept.client = client; },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => { kept.tokens = tokens; },
    codeVerifier: () => kept.verifier,
    saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
    redirectToAuthorization: (page) => console.error(page.href),
  };
  const first = connection(provider);
  try {
    await first.client.connect(first.transport);
    throw new Error('connected without a sign-in');
  } catch (error) {
    if (!isUnauthorized(error)) throw error;
  }
  const query = await returned;
  listener.close();
  await first.transport.finishAuth(query.get('code'), query.get('iss') ?? undefined);
  const { client, transport, revision } = connection(provider);
  await steps(client, transport, revision);
}
