// The first page: one curve that its slider moves, with its sentence and what the budget means.

const state = window.explorer
const key = `${state.prefix}.epsilon`
const start = document.querySelector(".start")
const slider = document.getElementById("epsilon")
const present = () => Number(slider.value)
const picture = (at) => draw(start.querySelector(".chart"), figure(state, at), state.alts[at])

const show = follow(slider, state.budgets, () => {
  const at = present()
  standing(start, state, at)
  remembered(new URLSearchParams(at === state.first ? {} : { [key]: state.budgets[at] }))
})

const asked = state.budgets.indexOf(query.get(key))
slider.value = asked < 0 ? state.first : asked
show()
alone([start], [slider.parentElement, start.querySelector(".meaning")])
rehearse((turn) => picture((present() + turn) % state.budgets.length), () => picture(present()))
