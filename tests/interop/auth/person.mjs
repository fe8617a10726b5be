// A person at a browser: `node person.mjs PAGE` follows the page to the login and consent forms, fills them in, and comes back.

let [url] = process.argv.slice(2);
const cookies = new Map();
let request = { method: "GET" };

for (let step = 0; step < 20; step++) {
  const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "), ...request.headers };
  const response = await fetch(url, { ...request, headers, redirect: "manual" });
  for (const cookie of response.headers.getSetCookie()) {
    const [pair] = cookie.split(";");
    const at = pair.indexOf("=");
    cookies.set(pair.slice(0, at), pair.slice(at + 1));
  }
  const text = await response.text();
  const location = response.headers.get("location");
  if (location) {
    [url, request] = [new URL(location, url).href, { method: "GET" }];
    continue;
  }
  const action = text.match(/<form[^>]* action="([^"]+)"/);
  if (!action) {
    console.log(`${response.status} ${text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim()}`);
    process.exit(response.ok ? 0 : 1);
  }
  const fields = new URLSearchParams();
  for (const [, attributes] of text.matchAll(/<input ([^>]*)>/g)) {
    const read = (name) => attributes.match(new RegExp(`${name}="([^"]*)"`))?.[1];
    if (read("name")) fields.set(read("name"), read("value") ?? "");
  }
  if (fields.has("login")) fields.set("login", "ada");
  url = new URL(action[1].replaceAll("&amp;", "&"), url).href;
  request = { method: "POST", body: fields, headers: { "content-type": "application/x-www-form-urlencoded" } };
}
console.log("the pages do not end");
process.exit(1);
