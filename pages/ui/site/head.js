// Before a page is drawn: its copy in the language of the address, and whether one chart is alone.

const query = new URLSearchParams(window.location.search)
const spoken = document.documentElement.lang
const other = document.querySelector(`link[hreflang="${CSS.escape(query.get("lang") ?? "")}"]`)
if (other && other.hreflang !== spoken) {
  window.location.replace(other.href + window.location.search + window.location.hash)
}
document.documentElement.classList.toggle("embed", query.has("embed"))

// Read once, read without a network: only a server can promise that, and only an encrypted one. To keep
// all pages takes a second of work, so it begins once the visitor rests.
const REST = 5000 // milliseconds
const worker = new URL("../offline.js", document.currentScript.src)
if (worker.protocol.startsWith("http") && !query.has("embed") && navigator.serviceWorker) {
  let keeping
  const moves = ["load", "keydown", "pointerdown", "wheel"]
  const wait = () => {
    clearTimeout(keeping)
    keeping = setTimeout(keep, REST)
  }
  const keep = () => {
    for (const kind of moves) window.removeEventListener(kind, wait)
    navigator.serviceWorker.register(worker)
  }
  for (const kind of moves) window.addEventListener(kind, wait, { passive: true })
}
