// Compare as a static page: a data set, a measure and a budget choose among what was drawn.

const known = window.explorer.data
const find = (id) => document.getElementById(id)
const [data, gauge, epsilon] = ["data", "gauge", "epsilon"].map(find)
let state

// Rows of cells that are HTML, escaped where they were made.
function rows(cells) {
  return cells.map((row) => {
    const made = document.createElement("tr")
    for (const cell of row) made.appendChild(document.createElement("td")).innerHTML = cell
    return made
  })
}

const picture = (at) => draw(document.querySelector(".chart.main"), figure(state, at), state.alts[at])

function show() {
  const at = Number(epsilon.value)
  document.querySelector(".finding").innerHTML = state.findings[at]
  picture(at)
  document.querySelector(".caption").innerHTML = state.captions[at]
  find("cards").tBodies[0].replaceChildren(...rows(state.cards[at]))
  const said = new URLSearchParams({
    "compare.data": data.value, "compare.gauge": gauge.value, "compare.epsilon": state.budgets[at],
  })
  remembered(said)
}

// What a data set and a measure change; the budget stays where it is, or nearly.
function choose(budget) {
  state = known[data.value][gauge.value]
  const far = state.budgets.map((one) => Math.abs(Math.log(Number(one) / Number(budget))))
  epsilon.max = state.budgets.length - 1
  epsilon.value = far.indexOf(Math.min(...far))
  document.querySelector(".question").textContent = state.question
  find("best-note").innerHTML = state.note
  const best = find("best")
  best.tHead.rows[0].replaceChildren(...state.heads.map((text) => {
    const head = document.createElement("th")
    head.textContent = text
    return head
  }))
  best.tBodies[0].replaceChildren(...rows(state.best))
  moved()
}

function measures(wanted) {
  gauge.replaceChildren(...Object.keys(known[data.value]).map((text) => new Option(text)))
  if (wanted in known[data.value]) gauge.value = wanted
}

const moved = () => follow(epsilon, state.budgets, show, false)()
const budget = () => state.budgets[Number(epsilon.value)]
if (query.get("compare.data") in known) data.value = query.get("compare.data")
measures(query.get("compare.gauge"))
const opened = known[data.value][gauge.value]
const asked = query.get("compare.epsilon")
choose(opened.budgets.includes(asked) ? asked : opened.budgets[opened.first])
epsilon.addEventListener("input", moved)
data.addEventListener("change", () => {
  const [at, wanted] = [budget(), gauge.value]
  measures(wanted)
  choose(at)
})
gauge.addEventListener("change", () => choose(budget()))
alone([document.querySelector(".finding"), document.querySelector(".chart.main")],
  [epsilon.parentElement])
const present = () => Number(epsilon.value)
rehearse((turn) => picture((present() + turn) % state.budgets.length), () => picture(present()))
