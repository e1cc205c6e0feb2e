// Opens pages without a connection: their files are kept, and what was last shown of a study is shown again.
// TOLD, where this is served and which files there are, stands before this text.

const FILES = `files-${TOLD.version}`;
const SEEN = "seen";
const MOST = 60;

addEventListener("install", (event) => {
  event.waitUntil(caches.open(FILES).then((cache) => cache.addAll(TOLD.files)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const old = (name) => name.startsWith("files-") && name !== FILES;
  event.waitUntil(caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))).then(() => clients.claim()));
});

async function remember(request, answer) {
  const cache = await caches.open(SEEN);
  await cache.put(request, answer);
  const kept = await cache.keys();
  if (kept.length > MOST) await cache.delete(kept[0]);
}

/** What the server says; what was last seen if it does not answer. */
async function fresh(request, seconds) {
  try {
    const answer = await fetch(request, seconds ? { signal: AbortSignal.timeout(seconds * 1000) } : {});
    if (answer.status === 200 && !answer.redirected) await remember(request, answer.clone());
    if (answer.status === 401 || answer.status === 403 || answer.type === "opaqueredirect") await caches.delete(SEEN); // signed out
    return answer;
  } catch (error) {
    const kept = await caches.match(request, { cacheName: SEEN, ignoreVary: true });
    if (kept) return marked(kept);
    throw error;
  }
}

/** What was kept, marked as such: its date is not of now. */
function marked(kept) {
  const headers = new Headers(kept.headers);
  headers.set("corrbandits-kept", "1");
  return new Response(kept.body, { status: kept.status, statusText: kept.statusText, headers });
}

const page = (path) => path === "/" || path === "/new" || path.startsWith("/s/");
const data = (path, search) => /^\/api\/v1\/(me$|studies($|\/[^/]+($|\/(arms|belief|standing|progress|explain)\b)))/.test(path) && !/[?&]at=/.test(search);

/** A file; where a page is older than we are, the file of that name that we have. */
async function file(request, path) {
  const kept = await caches.match(request, { cacheName: FILES });
  const own = `${TOLD.root}/static/${TOLD.version}/${path.split("/").at(-1)}`;
  return kept ?? fetch(request).catch(async (error) => { const found = await caches.match(own); if (found) return found; throw error; });
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const path = url.pathname.slice(TOLD.root.length);
  if (request.method !== "GET" || url.origin !== location.origin) return;
  if (path.startsWith("/static/")) event.respondWith(file(request, path));
  else if (request.mode === "navigate" && page(path)) event.respondWith(fresh(request, 8));
  else if (data(path, url.search)) event.respondWith(fresh(request, 25));
});

// What a page had loaded before we were there: it is to open without a connection too.
addEventListener("message", (event) => {
  const ours = event.data.map((address) => new URL(address)).filter((url) => url.origin === location.origin);
  const wanted = ours.filter((url) => { const path = url.pathname.slice(TOLD.root.length); return page(path) || data(path, url.search); });
  event.waitUntil(Promise.all(wanted.map((url) => fresh(new Request(url), 25).catch(() => {}))));
});
