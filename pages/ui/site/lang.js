// The language of the address: another copy of this page, or the labels of its charts.

const wanted = new URLSearchParams(window.location.search).get("lang")
const other = [...document.querySelectorAll("link[hreflang]")].find((one) => one.hreflang === wanted)
if (other && wanted !== document.documentElement.lang) {
  window.location.replace(other.href + window.location.search + window.location.hash)
}

// A chart's labels in the language of the address, part by part; what is unknown is a name.
window.spoken = (drawn) => {
  const known = window.labels.languages[wanted]
  if (!known || document.documentElement.lang === wanted) return drawn
  const figures = new RegExp(window.labels.figures, "s")
  const part = (text) => text.replace(figures, (all, a, word, b) => a + (known[word] ?? word) + b)
  const label = (text) => known[text] ?? text.split(new RegExp(window.labels.parts)).map(part).join("")
  const texts = (one) => (Array.isArray(one) ? one.map(texts) : typeof one === "string" ? label(one) : one)
  const named = (one, ...keys) =>
    Object.fromEntries(Object.entries(one).map(([k, v]) => [k, keys.includes(k) ? texts(v) : v]))
  const axis = (one) => {
    const made = named(one, "ticktext")
    return made.title ? { ...made, title: named(made.title, "text") } : made
  }
  const layout = Object.entries(drawn.layout).map(([key, value]) => {
    if (key.includes("axis")) return [key, axis(value)]
    return [key, key === "annotations" ? value.map((one) => named(one, "text")) : value]
  })
  return {
    data: drawn.data.map((one) => named(one, "name", "text")),
    layout: Object.fromEntries(layout),
  }
}
