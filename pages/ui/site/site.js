// Moves a paper's static page: its sliders choose among what was drawn beforehand.

const { slug, opening, controls } = window.explorer
const find = (id) => document.getElementById(id)
const epsilon = find("epsilon")
let state = opening
let moved = null // the control that is not where the page opens
const position = (place) => (place.type === "range" ? Number(place.value) : place.selectedIndex)

const elsewhere = [...query.keys()].some((key) => key !== `${slug}.epsilon`) // another stop or tab

function row(card) {
  const keys = ["method", "status", "claimed", "proved", "protects"]
  const made = document.createElement("tr")
  for (const key of keys) made.appendChild(document.createElement("td")).textContent = card[key]
  made.appendChild(document.createElement("td")).innerHTML = card.odds // escaped where it was made
  return made
}

const curve = document.querySelector(".chart.main")
const picture = (at) => draw(curve, figure(state, at), state.alts[at])

// Everything that depends on the budget.
function show() {
  const at = Number(epsilon.value)
  epsilon.previousElementSibling.querySelector("output").textContent = state.budgets[at]
  epsilon.setAttribute("aria-valuetext", state.budgets[at])
  document.querySelector(".finding").innerHTML = state.findings[at]
  document.querySelector(".meaning").innerHTML = state.rulers[at]
  if (curve.near === false) later(curve, () => picture(Number(epsilon.value)))
  else picture(at)
  later(find("cards"), () => find("cards").tBodies[0].replaceChildren(...state.cards[at].map(row)))
  for (const place of document.querySelectorAll("figure")) {
    place.hidden = window.others !== undefined && !part(place)
    later(place, () => section(place))
  }
  for (const place of document.querySelectorAll("[data-told]")) later(place, () => tell(place))
  remember()
}

// What the other tabs hold at this stop, and the position of this budget as the page opens.
const tabs = () => (moved ? chosen().tabs : window.others.opening)
const chosen = () => window.others.stops[moved.field][position(find(moved.field))]
const opened = () => opening.budgets.indexOf(state.budgets[Number(epsilon.value)])

// What has to be trained for this stop: said, where as the page opens is there and where it is not.
function trains(there) {
  const at = moved.texts[position(find(moved.field))]
  const shown = there ? ` Shown here: ${moved.texts[moved.first]}.` : ""
  return `<strong>${quoted(`The app trains this for ${moved.label}: ${at}.${shown}`)}</strong> `
}

// A chart of another tab at this stop; else as the page opens, and that it is; else nothing.
function part(place) {
  const { sections, waits } = tabs()
  const known = sections[place.dataset.chart]
  if (known) return { known, at: Number(epsilon.value), note: "" }
  const first = window.others.opening.sections[place.dataset.chart]
  if (!waits.includes(place.dataset.block) || opened() < 0) return null
  return { known: first, at: opened(), note: trains(true) }
}

// The sentences and tables of another tab; a fold stays as it is.
function tell(place) {
  if (!window.others) return
  const title = place.dataset.told
  const { told, waits } = tabs()
  const charts = [...document.querySelectorAll("figure")].filter((one) => one.dataset.block === title)
  const drawn = charts.some((one) => part(one))
  let pieces = told[title]?.[Number(epsilon.value)] ?? []
  let note = ""
  if (!pieces.length && moved && waits.includes(title)) {
    pieces = window.others.opening.told[title]?.[opened()] ?? []
    if (pieces.length || !drawn) note = `<p>${trains(pieces.length > 0)}</p>`
  }
  const head = drawn || (!note && !pieces.length) ? "" : `<h3>${quoted(title)}</h3>`
  const open = place.querySelector("details")?.open
  place.innerHTML = `${head}${note}${pieces.join("")}` // escaped where it was made
  if (open) place.querySelector("details")?.setAttribute("open", "")
}

// The chart of another tab.
function section(place) {
  const found = window.others && part(place)
  if (!found) return
  const { known, at, note } = found
  const said = place.querySelector(".said")
  const chart = place.querySelector(".chart")
  said.innerHTML = `${note}${known.said[at] ?? ""}` // escaped where it was made
  place.querySelector("figcaption").innerHTML = known.captions[at] ?? known.captions[0]
  chart.hidden = !known.frames[Math.min(at, known.frames.length - 1)].data
  if (!chart.hidden) draw(chart, figure(known, at), said.textContent)
}

// The budget of another stop's curves that is nearest to the one that was chosen.
function enter(next, budget) {
  state = next
  const far = state.budgets.map((one) => Math.abs(Math.log(Number(one) / Number(budget))))
  epsilon.max = state.budgets.length - 1
  epsilon.value = far.indexOf(Math.min(...far))
  document.querySelector(".caption").innerHTML = state.caption
  show()
}

function stop(control) {
  for (const one of controls) {
    const place = find(one.field)
    if (one !== control) place[place.type === "range" ? "value" : "selectedIndex"] = one.first
    if (place.type !== "range") continue
    const text = one.texts[position(place)]
    place.previousElementSibling.querySelector("output").textContent = text
    place.setAttribute("aria-valuetext", text)
  }
  moved = control && position(find(control.field)) !== control.first ? control : null
  const budget = state.budgets[Number(epsilon.value)] ?? opening.budgets[opening.first]
  enter(moved ? chosen().state : opening, budget)
}

function remember() {
  const said = new URLSearchParams()
  if (moved) said.set(`${slug}.${moved.field}`, moved.texts[position(find(moved.field))])
  const budget = state.budgets[Number(epsilon.value)]
  if (budget !== opening.budgets[opening.first]) said.set(`${slug}.epsilon`, budget)
  remembered(said)
}

// Once the other stops and the charts of other tabs are there.
function begun() {
  const asked = controls.find((one) => {
    const at = one.texts.indexOf(query.get(`${slug}.${one.field}`))
    const place = find(one.field)
    if (at >= 0) place[place.type === "range" ? "value" : "selectedIndex"] = at
    return at >= 0 && at !== one.first
  })
  for (const one of controls) {
    find(one.field).addEventListener("input", () => stop(one))
    find(one.field).disabled = false
  }
  if (asked) stop(asked)
  else show()
  if (elsewhere) practise()
  near.observe(curve)
  const heading = find(query.get(`${slug}.tab`))
  if (heading) stay(heading)
}

const SETTLED = 2000 // milliseconds without a change after which a page has taken its heights

// Opens at a heading, and stays there while what is above it takes its height, until somebody moves.
function stay(heading) {
  let end
  const still = new ResizeObserver(() => {
    heading.scrollIntoView()
    clearTimeout(end)
    end = setTimeout(() => still.disconnect(), SETTLED)
  })
  still.observe(document.querySelector("main"))
  for (const kind of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    window.addEventListener(kind, () => still.disconnect(), { once: true, passive: true })
  }
}

function begin() {
  epsilon.max = opening.budgets.length - 1
  const at = opening.budgets.indexOf(query.get(`${slug}.epsilon`))
  epsilon.value = at < 0 ? opening.first : at
  epsilon.addEventListener("input", show)
  stop(null)
  alone([document.querySelector(".finding"), document.querySelector(".chart.main")],
    [epsilon.parentElement, document.querySelector(".meaning")])
  requestAnimationFrame(() => setTimeout(() => (elsewhere ? more() : practise(more))))
}

function practise(done) {
  const present = () => Number(epsilon.value)
  const other = (turn) => picture((present() + turn) % state.budgets.length)
  rehearse(other, () => picture(present()), done)
}

// Asks for the other stops and the charts of other tabs, which the first chart does not need.
function more() {
  const script = document.createElement("script")
  script.src = "others.js"
  script.addEventListener("load", begun)
  document.head.append(script)
}

begin()
