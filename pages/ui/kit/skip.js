// Helps the keyboard and screen readers: `skip.py` beside this file says with what.

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

// A heading of the page; in a lesson its first line too, which says where one is.
const HEAD = "[data-testid=stMain] :is(h1, h2, h3, h4, h5, h6), " +
  ".st-key-lesson > :first-child [data-testid=stCaptionContainer] p"
const BUTTON = "[data-testid=stMain] button"
const FOLLOWS = Node.DOCUMENT_POSITION_FOLLOWING
let held // what has the keyboard, and the headings above it, the nearest first

const heads = () => [...document.querySelectorAll(HEAD)].filter((one) => one.checkVisibility())
const able = ({ node }) => node.isConnected && !node.disabled

function hold({ target }) {
  const node = target.closest(BUTTON) ?? target.closest(HEAD)
  const above = node && heads().filter((one) => one.compareDocumentPosition(node) & FOLLOWS).reverse()
  held = node && { node, above, keys: target.matches(":focus-visible") }
}

// Who leaves a button is not led back; a button that goes is left by nobody.
function leave() {
  setTimeout(() => { if (held && able(held) && document.activeElement !== held.node) held = null })
}

// A button that goes, or can no longer be pressed, leaves the focus nowhere: the heading above gets it,
// or that of the page which comes.
function lead() {
  if (!held || able(held)) return
  if (document.activeElement !== document.body && document.activeElement !== held.node) {
    held = null
    return
  }
  const head = held.above.find((one) => one.isConnected && one !== held.node) ?? heads()[0]
  if (!head) return
  head.tabIndex = -1
  head.focus({ preventScroll: !held.keys })
}

document.addEventListener("focusin", hold)
document.addEventListener("focusout", leave)

const SAID = "[class*='-finding']:not([aria-live]), [class*='st-key-learn-text-']:not([aria-live]), " +
  ".st-key-lesson:not([aria-live])"
const COUNTED = "[class*='st-key-answers-']:not([aria-live])" // grows while a class answers

const STATUS = "[class*='st-key-told-']:not([role])" // that training begins, and how it ended

// Sentences that follow a slider or an answer are read out when they change.
function tell() {
  for (const one of document.querySelectorAll(SAID)) one.setAttribute("aria-live", "polite")
  for (const one of document.querySelectorAll(STATUS)) one.setAttribute("role", "status")
  for (const one of document.querySelectorAll(COUNTED)) one.setAttribute("aria-live", "off")
}

let looking = 0
const look = () => {
  looking ||= requestAnimationFrame(() => {
    looking = 0
    tell()
    lead()
  })
}
new MutationObserver(look).observe(document.body, {
  childList: true, subtree: true, attributeFilter: ["disabled"],
})

const SLIDER = "[data-testid=stSlider]"
const ASKED = "[class*='st-key-learn-ask-']" // whose stops are written in the language already
const STOPS = "[data-testid=stSliderThumbValue], [data-testid=stSliderTickBar]"
const VALUED = "[aria-valuetext]"
const NUMBER = /(?<![\w.,])[+-]?\d[\d.,]*(?!\w)/g
const ENGLISH = ".,"
const known = new WeakMap() // what stood at a place, and how it was written there
let marks = ENGLISH // the decimal mark, and the one between thousands

const written = (text) =>
  text.replace(NUMBER, (one) => one.replace(/[.,]/g, (mark) => marks[ENGLISH.indexOf(mark)]))

function rewrite(place, now, put) {
  const last = known.get(place)
  const raw = last?.text === now ? last.raw : now
  const text = written(raw)
  known.set(place, { raw, text })
  if (text !== now) put(text)
}

// The stops of sliders, whose own texts stand in addresses and are the same in every language.
function stops() {
  for (const slider of document.querySelectorAll(SLIDER)) {
    if (slider.closest(ASKED)) continue
    for (const one of slider.querySelectorAll(VALUED)) {
      const put = (text) => one.setAttribute("aria-valuetext", text)
      rewrite(one, one.getAttribute("aria-valuetext"), put)
    }
    for (const one of slider.querySelectorAll(STOPS)) {
      const walk = document.createTreeWalker(one, NodeFilter.SHOW_TEXT)
      while (walk.nextNode()) {
        const { currentNode } = walk
        rewrite(currentNode, currentNode.data, (text) => { currentNode.data = text })
      }
    }
  }
}

const stopped = new MutationObserver(stops)

function write(next) {
  if (next === marks) return
  marks = next
  stops()
  stopped.observe(document.body, {
    childList: true, subtree: true, characterData: true, attributeFilter: ["aria-valuetext"],
  })
}

// The language of the page, and that of its menu, which is translated on every page.
function speak({ language, spoken, marks }) {
  write(marks)
  document.documentElement.lang = language
  document.querySelector("[data-testid=stSidebarNav]")?.setAttribute("lang", spoken)
}

export default function ({ data, parentElement }) {
  if (data.language) return speak(data)
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
