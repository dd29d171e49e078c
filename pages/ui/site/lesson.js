// Each view of a lesson has charts of its own, which its slider moves.

const views = window.explorer ?? JSON.parse(document.getElementById("views").textContent)
const states = views.filter((one) => one)

// A view alone shows its chart, not its question.
if (window.explorer && query.has("embed")) {
  for (const fold of document.querySelectorAll("section.drawn > .answer")) fold.replaceWith(fold.querySelector(".shown"))
}

document.querySelectorAll("section.drawn").forEach((section, i) => {
  const { texts, first, findings, meanings, charts, told } = states[i]
  const slider = section.querySelector(".slider input")
  const finding = section.querySelector(".finding")
  const places = section.querySelectorAll(".chart")
  const show = () => later(section.querySelector(".shown"), shown) // in sight once its fold is open
  const shown = () => {
    const at = Number(slider.value)
    section.querySelector("output").textContent = texts[at]
    slider.setAttribute("aria-valuetext", texts[at])
    finding.innerHTML = findings[at] // escaped where it was made
    section.querySelector(".meaning").innerHTML = meanings[at]
    section.querySelector(".told").innerHTML = told[at] ?? ""
    charts.forEach((chart, j) => one(places[j], chart, at))
  }
  // A chart with its sentence, where it has one of its own, and how to read it.
  const one = (place, { said = [], captions = [], ...drawn }, at) => {
    const note = [said[at], captions[at] ?? captions[0]].filter(Boolean).join("<br>")
    place.nextElementSibling.innerHTML = note
    place.style.minHeight = `${drawn.base.layout.height ?? 330}px`
    place.hidden = !drawn.frames[Math.min(at, drawn.frames.length - 1)].data
    if (!place.hidden) draw(place, figure(drawn, at), (finding.textContent || place.nextElementSibling.textContent).trim())
  }
  slider.max = texts.length - 1
  slider.value = first
  slider.addEventListener("input", show)
  show()
})

// A page among others, which has an address, shows one of its views alone.
if (window.explorer) alone([document.querySelector("section.drawn")], [])
