// Each view of a lesson has a chart of its own, which its slider moves.

const states = JSON.parse(document.getElementById("views").textContent).filter((one) => one)

document.querySelectorAll("section.drawn").forEach((section, i) => {
  const state = states[i]
  const slider = section.querySelector("input")
  const { base, frames } = state
  const show = () => {
    const at = Number(slider.value)
    const { data, ...moves } = frames[at]
    const figure = { data: [...base.data, ...data], layout: { ...base.layout, ...moves } }
    section.querySelector("output").textContent = state.budgets[at]
    slider.setAttribute("aria-valuetext", state.budgets[at])
    section.querySelector(".finding").innerHTML = state.findings[at]
    section.querySelector(".meaning").innerHTML = state.rulers[at]
    window.drawn({
      data: { figure: JSON.stringify(figure), alt: state.alts[at], source: "" },
      parentElement: section.querySelector(".chart"),
    })
  }
  slider.max = state.budgets.length - 1
  slider.value = state.first
  slider.addEventListener("input", show)
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show)
  show()
})
