// Moves a paper's static page: its sliders choose among what was drawn beforehand.

const { slug, opening, sliders } = window.explorer
const find = (id) => document.getElementById(id)
const epsilon = find("epsilon")
let state = opening

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
  for (const place of document.querySelectorAll("figure")) later(place, () => section(place))
  for (const place of document.querySelectorAll("[data-told]")) later(place, () => tell(place))
  remember()
}

// The position among the budgets that the page opens with, at which the other tabs are there.
const opened = () => opening.budgets.indexOf(state.budgets[Number(epsilon.value)])

// The sentences and tables of another tab; a fold stays as it is.
function tell(place) {
  const known = window.others?.told[place.dataset.told]
  const open = place.querySelector("details")?.open
  if (!known || opened() < 0) return
  place.innerHTML = known[opened()] // escaped where it was made
  if (open) place.querySelector("details")?.setAttribute("open", "")
}

// The chart of another tab.
function section(place) {
  const known = window.others?.sections[place.dataset.chart]
  const at = opened()
  if (!known || at < 0) return
  const said = place.querySelector(".said")
  const chart = place.querySelector(".chart")
  said.innerHTML = known.said[at] ?? "" // escaped where it was made
  chart.hidden = !known.frames[Math.min(at, known.frames.length - 1)].data
  if (!chart.hidden) draw(chart, figure(known, at), said.textContent)
}

// The budget of another stop's curves that is nearest to the one that was chosen.
function enter(next, budget) {
  state = next
  const far = state.budgets.map((one) => Math.abs(Math.log(Number(one) / Number(budget))))
  epsilon.max = state.budgets.length - 1
  epsilon.value = far.indexOf(Math.min(...far))
  show()
}

function stop(moved) {
  for (const one of sliders) {
    const place = find(one.field)
    if (one !== moved) place.value = one.first
    const text = one.texts[Number(place.value)]
    place.previousElementSibling.querySelector("output").textContent = text
    place.setAttribute("aria-valuetext", text)
  }
  const chosen = moved ? window.others.states[moved.field][Number(find(moved.field).value)] : null
  enter(chosen ?? opening, state.budgets[Number(epsilon.value)] ?? opening.budgets[opening.first])
}

function remember() {
  const said = new URLSearchParams()
  for (const one of sliders) {
    const at = Number(find(one.field).value)
    if (at !== one.first) said.set(`${slug}.${one.field}`, one.texts[at])
  }
  const budget = state.budgets[Number(epsilon.value)]
  if (budget !== opening.budgets[opening.first]) said.set(`${slug}.epsilon`, budget)
  remembered(said)
}

// The other stops and the charts of other tabs: read once the first chart is there.
function begun() {
  const moved = sliders.find((one) => {
    const at = one.texts.indexOf(query.get(`${slug}.${one.field}`))
    if (at >= 0) find(one.field).value = at
    return at >= 0 && at !== one.first
  })
  for (const one of sliders) {
    find(one.field).addEventListener("input", () => stop(one))
    find(one.field).disabled = false
  }
  if (moved) stop(moved)
  else show()
  const at = () => Number(epsilon.value)
  const other = (turn) => picture((at() + turn) % state.budgets.length)
  rehearse(other, () => picture(at()))
  near.observe(curve)
  find(query.get(`${slug}.tab`))?.scrollIntoView()
}

function begin() {
  epsilon.max = opening.budgets.length - 1
  const at = opening.budgets.indexOf(query.get(`${slug}.epsilon`))
  epsilon.value = at < 0 ? opening.first : at
  epsilon.addEventListener("input", show)
  stop(null)
  alone([document.querySelector(".finding"), document.querySelector(".chart.main")],
    [epsilon.parentElement, document.querySelector(".meaning")])
  const more = document.createElement("script")
  more.src = "others.js"
  more.addEventListener("load", begun)
  requestAnimationFrame(() => setTimeout(() => document.head.append(more)))
}

begin()
