// Learn as a static page: each screen asks first, then shows its stops. Answers stay in this page.

const { screens, answers, marks, gains, choose } = window.explorer
const kept = {}

// The answers of a form in order; null while one is missing.
function given(form) {
  const range = form.querySelector("input[type=range]")
  if (range) return [Number(range.value)]
  const found = [...form.querySelectorAll("fieldset")].map((one) => one.querySelector(":checked"))
  return found.every(Boolean) ? found.map((one) => Number(one.value)) : null
}

// Calls `done` with the answers, or with null if they are skipped, and takes the form away.
function ask(form, done) {
  const end = (some) => {
    form.hidden = true
    done(some)
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    const some = given(form)
    form.querySelector(".warning").textContent = some ? "" : choose
    if (some) end(some)
  })
  form.querySelector(".skip").addEventListener("click", () => end(null))
  for (const one of form.querySelectorAll("button")) one.disabled = false
}

const filled = (text, facts) => text.replace(/\{(\w+)\}/g, (whole, key) => facts[key] ?? whole)

// The attacker's game: draws rounds with Laplace noise and counts who was right.
function play(screen, place, stop) {
  const { said, others, step, lost, few, sure, many, rounds, figure: drawn } = screen.game
  const scores = {}
  let round
  const fresh = () => {
    const scale = step / Number(screen.stops[stop()])
    const inside = Math.random() < 0.5
    const noise = (Math.random() < 0.5 ? -1 : 1) * scale * -Math.log(1 - Math.random())
    return { inside, published: others + step * inside + noise }
  }
  const tell = () => {
    const [right, played] = scores[stop()] ?? [0, 0]
    let next = played ? "on" : "begin"
    if (played >= few && right / played >= sure) next = "win"
    else if (played >= rounds && 100 * right < lost * played) next = "lose"
    const score = filled(played ? said.score : said.none, { right, played })
    place.querySelector(".said").innerHTML = filled(screen.said[stop()], { score, next: said[next] })
    const data = drawn.data.map((one, i) => (i === 2 ? { ...one, x: [round.published] } : one))
    draw(place.querySelector(".chart"), { ...drawn, data }, place.querySelector(".said").textContent)
  }
  const count = (hits, more) => {
    const [right, played] = scores[stop()] ?? [0, 0]
    scores[stop()] = [right + hits, played + more]
    round = fresh()
    tell()
  }
  for (const button of place.querySelectorAll("[data-guess]")) {
    button.addEventListener("click", () => {
      const last = place.querySelector(".last")
      if (button.dataset.guess === "many") {
        const all = Array.from({ length: many }, fresh)
        last.textContent = ""
        count(all.filter((one) => one.inside === one.published > others + step / 2).length, many)
        return
      }
      const hit = (button.dataset.guess === "yes") === round.inside
      last.innerHTML = `${hit ? said.hit : said.miss} ${round.inside ? said.was : said.wasnot}`
      count(Number(hit), 1)
    })
  }
  return () => {
    round = fresh()
    place.querySelector(".last").textContent = "" // it was said of another round
    tell()
  }
}

for (const screen of screens) {
  const place = document.getElementById(`screen-${screen.name}`)
  const control = document.getElementById(screen.name)
  const stop = () => (control.type === "range" ? Number(control.value) : control.selectedIndex)
  const wanted = screen.stops.indexOf(query.get(screen.key))
  const first = wanted < 0 ? screen.first : wanted
  if (control.type === "range") control.value = first
  else control.selectedIndex = first
  const shown = () => {
    const at = stop()
    place.querySelector(".said").innerHTML = screen.said[at] // escaped where it was made
    place.querySelector(".image").innerHTML = screen.images[at]
    place.querySelector(".more").innerHTML = screen.more[at]
    place.querySelector(".caption").innerHTML = screen.captions[at]
    const alt = place.querySelector(".said").textContent
    if (screen.base) draw(place.querySelector(".chart"), figure(screen, at), alt)
  }
  const show = follow(control, screen.texts, screen.game ? play(screen, place, stop) : shown)
  const form = place.querySelector("form")
  const range = form.querySelector("input[type=range]")
  if (range) follow(range, screen.asked, () => {})()
  ask(form, (some) => {
    place.querySelector(".shown").hidden = false
    if (some) place.querySelector(".verdict").innerHTML = screen.verdicts[some[0]]
    show()
  })
}

for (const form of document.querySelectorAll(".quiz form")) {
  const { name } = form.dataset
  ask(form, (some) => {
    kept[name] = some
    if (name === "before") {
      form.parentElement.querySelector(`[data-kind=${some ? "kept" : "skipped"}]`).hidden = false
      return
    }
    const right = (list) => list.filter((one, i) => one === answers[i]).length
    const end = form.nextElementSibling
    end.hidden = false
    if (!some) return
    const then = kept.before ? right(kept.before) + 1 : 0
    end.querySelector(".gain").innerHTML = gains[then][right(some)]
    end.querySelectorAll("li span").forEach((one, i) => {
      one.textContent = `${marks[Number(some[i] === answers[i])]}.`
    })
  })
}

alone([document.querySelector(".screen")], [])
