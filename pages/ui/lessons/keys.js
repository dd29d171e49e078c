// Keys that move through the views of a lesson, and the channel between the two windows.

const CHANNEL = "epsilon-explorer.present"
const MOVES = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }
const keys = new WeakMap() // element -> what it listens to

// Arrows on a slider move the slider; whoever types is not interrupted.
function meant(event) {
  const target = event.composedPath()[0]
  if (target?.matches?.("input:not([type=range]):not([type=radio]), textarea")) return false
  const page = event.key.startsWith("Page")
  return page || !target?.closest?.("input[type=range], [role=slider], [role=radiogroup], [role=listbox], [role=tablist]")
}

function begin(parent) {
  const one = { channel: new BroadcastChannel(CHANNEL) }
  one.press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key in MOVES && meant(event)) {
      event.preventDefault()
      event.stopPropagation()
      one.move(MOVES[event.key])
    } else if (event.key.toLowerCase() === "n" && one.data.notes && meant(event)) {
      window.open(one.data.notes, "epsilon-explorer-notes", "popup,width=900,height=700")
    } else if (event.key === "Escape" && one.data.role === "present") {
      one.set("move", { by: 0, at: Date.now() })
    }
  }
  // The notes ask the presenter to move; the presenter tells the notes where it is.
  one.move = (by) => {
    if (one.data.role === "notes") one.channel.postMessage({ ask: by, lesson: one.data.lesson })
    else one.set("move", { by, at: Date.now() })
  }
  one.channel.onmessage = ({ data }) => {
    if (data.lesson !== one.data.lesson) return
    if (data.ask && one.data.role === "present") one.set("move", { by: data.ask, at: Date.now() })
    if (data.view && one.data.role === "notes" && data.view !== one.data.view) one.set("view", data.view)
  }
  window.addEventListener("keydown", one.press, true)
  keys.set(parent, one)
  return one
}

export default function ({ data, parentElement, setTriggerValue }) {
  const one = keys.get(parentElement) ?? begin(parentElement)
  one.data = data
  one.set = setTriggerValue
  document.body.dataset.keys = data.role // keys are listened to from here on
  if (data.role === "present" && data.lesson) one.channel.postMessage({ lesson: data.lesson, view: data.view })
  return () => {
    window.removeEventListener("keydown", one.press, true)
    one.channel.close()
    keys.delete(parentElement)
    delete document.body.dataset.keys
  }
}
