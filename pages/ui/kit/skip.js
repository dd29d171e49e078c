// Leads the keyboard past menus: `skip.py` beside this file says what it is for.

const HIDDEN = "position:fixed;left:-999px;top:8px;z-index:1000001;padding:6px 12px;" +
  "background:var(--st-background-color);color:var(--st-link-color);font:inherit"

const control = (place) => [...document.querySelectorAll("[class*='st-key-']")]
  .find((one) => one.classList.contains(place))?.querySelector("[role=slider], input")

// The next Tab leads to the control, unless something has focus already.
function begin(place) {
  const before = control(place)?.parentElement
  if (before && document.activeElement === document.body) {
    before.tabIndex = -1
    before.focus({ preventScroll: true })
    before.blur()
    before.removeAttribute("tabindex")
  }
  return Boolean(before)
}

function whenThere(place, link) {
  if (begin(place)) return
  const watch = new MutationObserver(() => { // until it is there, or another page has come
    if (!link.isConnected || begin(place)) watch.disconnect()
  })
  watch.observe(document.body, { childList: true, subtree: true })
}

const MENU = "[role=menu]", OPENER = "[aria-haspopup=menu][aria-expanded=true]"

// Streamlit leaves the focus nowhere once something is chosen from a menu.
function back(opener) {
  const has = document.activeElement
  if (has === document.body) opener.focus({ preventScroll: true })
  else if (has.closest(MENU)) requestAnimationFrame(() => back(opener))
}

function opened({ target }) {
  const opener = target.closest(MENU) && document.querySelector(OPENER)
  if (!opener || opener.watched) return
  opener.watched = new MutationObserver(() => {
    opener.watched.disconnect()
    opener.watched = null
    back(opener)
  })
  opener.watched.observe(opener, { attributeFilter: ["aria-expanded"] })
}

document.addEventListener("focusin", opened)

export default function ({ data, parentElement }) {
  let link = parentElement.querySelector("button")
  if (!link) {
    link = document.createElement("button")
    link.style.cssText = HIDDEN
    link.onfocus = () => { link.style.left = "8px" }
    link.onblur = () => { link.style.left = "-999px" }
    parentElement.appendChild(link)
    whenThere(data.place, link)
  }
  link.textContent = data.text
  link.onclick = () => { control(data.place)?.focus() }
}
