// A chart's labels in the language of the address, part by part; what is unknown is a name.
window.spoken = (drawn) => {
  const wanted = query.get("lang")
  const known = window.labels.languages[wanted]
  if (!known || spoken === wanted) return drawn
  const figures = new RegExp(window.labels.figures, "s")
  const split = new RegExp(window.labels.parts)
  const marks = window.labels.marks[wanted] // a decimal point and the comma between thousands
  const number = (text) => text.replace(/[.,](?=\d)/g, (mark) => marks[".,".indexOf(mark)])
  const part = (text) => text.replace(figures, (all, a, word, b) => number(a) + (known[word] ?? word) + number(b))
  const label = (text) => known[text] ?? text.split(split).map(part).join("")
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
    data: drawn.data.map((one) => named(one, "name", "text", "x", "y")),
    layout: { ...Object.fromEntries(layout), separators: marks },
  }
}

window.words = window.labels.languages[query.get("lang") ?? spoken] // of a chart's buttons
