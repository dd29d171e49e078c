// What all static pages share: charts from their parts, and work that waits until it is seen.

function figure({ base, frames }, at) {
  const { data, ...moves } = frames[Math.min(at, frames.length - 1)]
  return { data: [...base.data, ...data], layout: { ...base.layout, ...moves } }
}

function draw(place, figure, alt) {
  const text = JSON.stringify(window.spoken?.(figure) ?? figure)
  place.chart = { figure: text, alt, source: "", words: window.words }
  window.drawn({ data: place.chart, parentElement: place })
}

// What a place shows of a paper at a budget: a sentence, what the budget means, and the curve.
function standing(place, { findings, rulers, alts, ...drawn }, at) {
  place.querySelector(".finding").innerHTML = findings[at] // escaped where it was made
  place.querySelector(".meaning").innerHTML = rulers[at]
  draw(place.querySelector(".chart"), figure(drawn, at), alts[at])
}

const TURNS = 6 // after so many the browser has compiled what moves a chart
const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 30))

let touched = false // whether somebody has moved anything
window.addEventListener("input", () => (touched = true), { capture: true, once: true })

// Draws other pictures and then the present one again, unseen, while nothing else is to be done:
// else a slider's first moves would take several times as long as the others. Ends when somebody
// moves it, since each move is a rehearsal of the next; `done` follows.
function rehearse(others, present, done = () => {}, turns = TURNS) {
  idle(() => {
    if (!turns || touched) return done()
    others(turns)
    present()
    rehearse(others, present, done, turns - 1)
  })
}

const near = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    target.near = isIntersecting
    if (isIntersecting) target.work?.()
  }
}, { rootMargin: "300px" })

const turns = new Map() // what is in sight takes turns, one for each picture of the screen

function turn() {
  const [[place, work]] = turns
  turns.delete(place)
  if (turns.size) requestAnimationFrame(turn)
  work()
}

// Does the work of a place soon if it is in sight, else once it is; later work takes its place.
function later(place, work) {
  if (!("near" in place)) near.observe(place)
  place.work = () => {
    delete place.work
    work()
  }
  if (!place.near) return
  if (!turns.size) requestAnimationFrame(turn)
  turns.set(place, () => place.work?.())
}

window.addEventListener("beforeprint", () => {
  for (const place of document.querySelectorAll("*")) {
    if (place.work && !place.closest("details:not([open])")) place.work() // else it has no width yet
  }
})

// A slider, which says where it stands, in words too.
function follow(slider, texts, moved) {
  const show = () => {
    const output = slider.previousElementSibling?.querySelector("output")
    if (output) output.textContent = texts[Number(slider.value)]
    if (slider.type === "range") slider.setAttribute("aria-valuetext", texts[Number(slider.value)])
    moved()
  }
  slider.addEventListener("input", show)
  return show
}

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const place of document.querySelectorAll(".chart")) {
    if (place.chart) window.drawn({ data: place.chart, parentElement: place })
  }
})

// Keeps the settings in the address, and what every page's address may hold.
let noted
function remembered(said) {
  for (const key of ["lang", "embed"]) if (query.has(key)) said.set(key, query.get(key))
  const text = said.toString()
  clearTimeout(noted)
  noted = setTimeout(() => {
    try {
      history.replaceState(null, "", text ? `?${text}` : window.location.pathname)
    } catch {} // a page from a folder keeps its address
  }, 100) // a browser takes few changes of the address in a second, each of some milliseconds
}

// The address of this view; of one of its charts alone, or of the whole page.
function address(name) {
  const here = new URL(window.location.href)
  here.searchParams.delete("embed")
  if (name !== undefined) here.searchParams.set("embed", name)
  return here.href
}

// Leaves one chart of the page, with what moves it; a name that is not there is the first chart.
function alone(first, moves) {
  if (!query.has("embed")) return
  const named = `[data-chart="${CSS.escape(query.get("embed"))}"]`
  const chart = document.querySelector(named)
  const source = document.querySelector(".source")
  const foot = document.createElement("div")
  foot.dataset.testid = "stBottomBlockContainer" // the chart leaves room for it, as in the app
  foot.append(...moves, source)
  document.querySelector("main").append(foot)
  for (const one of [...(chart ? [chart] : first), foot]) one.classList.add("alone")
  source.addEventListener("click", () => (source.href = address()))
  source.href = address()
}

// What makes a slide is read once somebody wants one.
let slideScript
const slideReady = () => (slideScript ??= new Promise((done, failed) => {
  const script = document.createElement("script")
  script.src = new URL("slide.js", document.querySelector("script[src$='/plot.js']").src)
  script.addEventListener("load", done)
  script.addEventListener("error", failed)
  document.head.append(script)
}))

// The lines of a place, which may be waiting for its turn.
function linesOf(place) {
  place?.work?.()
  const whole = place?.cloneNode(true)
  for (const end of whole?.querySelectorAll("br") ?? []) end.replaceWith(" ")
  const found = [...(whole?.querySelectorAll("p, tr, li, summary, h3") ?? [])]
  return found.map((one) => [...(one.cells ?? [one])].map(({ textContent }) => textContent.trim()).join(" · "))
}

// The words of a chart's slide: the first sentence is the title; guarantee and address are notes.
function slideWords(box) {
  const near = (name) => box.parentElement.querySelector(name) ?? document.querySelector(name)
  const said = near(".finding, .said").textContent.replace(/\s+/g, " ").trim()
  const end = said.search(/\.(?=\s|$)|。/) + 1
  const [title, below] = end ? [said.slice(0, end), said.slice(end).trim()] : [said, ""]
  const card = linesOf(document.querySelector("[data-told=Guarantee]"))
  const held = card.length ? card : linesOf(document.getElementById("cards"))
  const made = document.querySelector("footer span").firstChild.textContent.trim()
  return { title, below, notes: [said, ...linesOf(near(".meaning")), ...held, `${made} ${address()}`].filter(Boolean) }
}

const quoted = (text) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)

for (const box of document.querySelectorAll(".embed-this")) {
  const line = box.querySelector("input")
  const told = () => {
    line.value = `<iframe src="${quoted(address(box.dataset.name))}" title="${quoted(document.title)}" `
      + 'width="100%" height="560" style="border:0" loading="lazy"></iframe>'
  }
  box.addEventListener("toggle", told)
  box.addEventListener("click", ({ target }) => {
    const { take } = target.dataset
    if (!take) return
    told()
    const chart = box.parentElement.querySelector(".chart > [role=figure]")
    if (take === "pptx") {
      const make = (png) => slideReady().then(() => window.slide(png, slideWords(box)))
      chart?.dispatchEvent(new CustomEvent("explorer.file", { detail: { make, format: take } }))
      return
    }
    if (take !== "copy") {
      chart?.dispatchEvent(new CustomEvent("explorer.save", { detail: take }))
      return
    }
    line.select()
    if (navigator.clipboard) navigator.clipboard.writeText(line.value).catch(() => {})
  })
}
