const OURS = `epsilon-explorer ${self.registration.scope} `
const VERSION = `${OURS}${DIGEST}`

// Keeps every page, so that a site that was visited once opens without a network.

self.addEventListener("install", (event) => {
  self.skipWaiting()
  const files = FILES.map((name) => new Request(name, { cache: "no-cache" }))
  event.waitUntil(caches.open(VERSION).then((kept) => kept.addAll(files)))
})

self.addEventListener("activate", (event) => {
  const old = (name) => name.startsWith(OURS) && name !== VERSION
  event.waitUntil(caches.keys()
    .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
    .then(() => self.clients.claim()))
})

// What is kept comes from there, whatever the address asks of it; the rest from the network.
self.addEventListener("fetch", (event) => {
  const { url, method } = event.request
  if (method !== "GET" || !url.startsWith(self.registration.scope)) return
  const [place] = url.split(/[?#]/)
  const name = place.endsWith("/") ? `${place}index.html` : place
  event.respondWith(caches.open(VERSION)
    .then((kept) => kept.match(name))
    .then((found) => found ?? fetch(event.request)))
})
