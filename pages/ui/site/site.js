// Moves a paper's static page: its sliders choose among what was drawn beforehand.

const { slug, opening, sliders, sections } = window.explorer
const find = (id) => document.getElementById(id)
const asked = new URLSearchParams(window.location.search)
const epsilon = find("epsilon")
let state = opening

const figure = ({ base, frames }, at) => {
  const { data, ...moves } = frames[Math.min(at, frames.length - 1)]
  const whole = { data: [...base.data, ...data], layout: { ...base.layout, ...moves } }
  return JSON.stringify(window.spoken(whole))
}

function draw(node, text, alt) {
  window.drawn({ data: { figure: text, alt, source: "" }, parentElement: node })
}

function row(card) {
  const keys = ["method", "status", "claimed", "proved", "protects"]
  const made = document.createElement("tr")
  for (const key of keys) made.appendChild(document.createElement("td")).textContent = card[key]
  made.appendChild(document.createElement("td")).innerHTML = card.odds // escaped where it was made
  return made
}

// Everything that depends on the budget.
function show() {
  const at = Number(epsilon.value)
  epsilon.previousElementSibling.querySelector("output").textContent = state.budgets[at]
  epsilon.setAttribute("aria-valuetext", state.budgets[at])
  document.querySelector(".finding").innerHTML = state.findings[at]
  document.querySelector(".meaning").innerHTML = state.rulers[at]
  draw(document.querySelector(".chart.main"), figure(state, at), state.alts[at])
  find("cards").tBodies[0].replaceChildren(...state.cards[at].map(row))
  const here = opening.budgets.indexOf(state.budgets[at])
  sections.forEach((section, i) => {
    const place = document.querySelectorAll("figure")[i]
    if (here < 0) return
    place.querySelector(".said").innerHTML = section.said[here] ?? ""
    draw(place.querySelector(".chart"), figure(section, here), section.said[here] ?? "")
  })
  remember()
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
  const chosen = moved ? moved.states[Number(find(moved.field).value)] : null
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
  if (asked.has("lang")) said.set("lang", asked.get("lang"))
  const query = said.toString()
  try {
    history.replaceState(null, "", query ? `?${query}` : window.location.pathname)
  } catch {} // a page from a folder keeps its address
}

function begin() {
  epsilon.max = opening.budgets.length - 1
  const wanted = asked.get(`${slug}.epsilon`) ?? opening.budgets[opening.first]
  const at = opening.budgets.indexOf(wanted)
  epsilon.value = at < 0 ? opening.first : at
  let moved = null
  for (const one of sliders) {
    const place = one.texts.indexOf(asked.get(`${slug}.${one.field}`))
    if (place >= 0 && place !== one.first) {
      find(one.field).value = place
      moved = one
    }
    find(one.field).addEventListener("input", () => stop(one))
  }
  epsilon.addEventListener("input", show)
  stop(moved)
  const dark = window.matchMedia("(prefers-color-scheme: dark)")
  dark.addEventListener("change", show)
}

begin()
