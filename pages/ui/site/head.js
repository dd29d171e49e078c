// Before a page is drawn: its copy in the language of the address, and whether one chart is alone.

const query = new URLSearchParams(window.location.search)
const spoken = document.documentElement.lang
const other = document.querySelector(`link[hreflang="${CSS.escape(query.get("lang") ?? "")}"]`)
if (other && other.hreflang !== spoken) {
  window.location.replace(other.href + window.location.search + window.location.hash)
}
document.documentElement.classList.toggle("embed", query.has("embed"))

// Read once, read without a network: only a server can promise that, and only an encrypted one.
const worker = new URL("../offline.js", document.currentScript.src)
if (worker.protocol.startsWith("http") && !query.has("embed") && navigator.serviceWorker) {
  window.addEventListener("load", () => navigator.serviceWorker.register(worker))
}
