// npm `oidc-provider` as the authorization server of an MCP server: `node provider.mjs PORT RESOURCE SECRET`.
//
// It registers clients by themselves, knows the client `guard` for introspection, issues tokens of a few seconds for RESOURCE
// and rotates refresh tokens. Each refused request is a line of standard error.

import Provider from "oidc-provider";

const [port, resource, secret] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;
const scopes = ["read", "write"];

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "guard",
      client_secret: secret,
      grant_types: [],
      response_types: [],
      redirect_uris: [],
    },
  ],
  scopes: ["openid", "offline_access", ...scopes],
  features: {
    devInteractions: { enabled: true },
    deviceFlow: { enabled: true },
    introspection: { enabled: true, allowedPolicy: () => true },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({
        scope: scopes.join(" "),
        audience: resource,
        accessTokenTTL: 4,
        accessTokenFormat: "opaque",
      }),
    },
  },
  issueRefreshToken: async (_, client) => client.grantTypeAllowed("refresh_token"),
  rotateRefreshToken: true,
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  cookies: { keys: [secret] },
  ttl: { Interaction: 600, Session: 600, Grant: 600, RefreshToken: 600 },
});

const refusals = ["server_error", "authorization.error", "grant.error", "registration_create.error", "introspection.error"];
for (const event of refusals) {
  provider.on(event, (_, error) => console.error(event, error.message, error.error_description ?? ""));
}
let registered = 0;
provider.on("registration_create.success", () => console.error("registered", ++registered));
provider.listen(Number(port), "127.0.0.1", () => console.log(`listening on ${issuer}`));
