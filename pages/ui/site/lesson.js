// Each view of a lesson has a chart of its own, which its slider moves.

const views = window.explorer ?? JSON.parse(document.getElementById("views").textContent)
const states = views.filter((one) => one)

// A view alone shows its chart, not its question.
if (window.explorer && query.has("embed")) {
  for (const fold of document.querySelectorAll("section.drawn > .answer")) fold.replaceWith(fold.querySelector(".shown"))
}

document.querySelectorAll("section.drawn").forEach((section, i) => {
  const state = states[i]
  const slider = section.querySelector(".slider input")
  const show = () => later(section.querySelector(".shown"), shown) // in sight once its fold is open
  const shown = () => {
    const at = Number(slider.value)
    section.querySelector("output").textContent = state.budgets[at]
    slider.setAttribute("aria-valuetext", state.budgets[at])
    standing(section, state, at)
  }
  slider.max = state.budgets.length - 1
  slider.value = state.first
  slider.addEventListener("input", show)
  show()
})

// A page among others, which has an address, shows one of its views alone.
if (window.explorer) alone([document.querySelector("section.drawn")], [])
