// Draws a Plotly figure and, when the figure changes, changes the picture in place: what the
// user has zoomed or hidden stays, and nothing flickers while a run goes on. (Streamlit's own
// chart element is made anew for every new figure.)

const META = /"meta":\{[^}]*\}/ // the move of the slider that a picture belongs to
const plots = new WeakMap() // element -> what is drawn in it

const library = () =>
  new Promise((done) => {
    if (window.Plotly) done(window.Plotly)
    else window.addEventListener("explorer.plotly", () => done(window.Plotly), { once: true })
  })

// Before Streamlit opens another page it takes the settings out of the address, as a step of its own,
// and back from there it opens a page without them. That step is left out here, and the page is loaded
// with the settings of its address. Within a page the widgets follow the address themselves. A lesson
// and Learn are not loaded again: what was answered belongs to the session that a load ends. A language
// is no setting of a page: the session keeps it.
const MOMENT = 10000 // milliseconds in which the other page comes
const asked = () => [...new URLSearchParams(location.search).keys()]
const led = () => asked().includes("lesson")
const own = () => !led() && !location.pathname.endsWith("/learn") && asked().some((one) => one !== "lang")

if (!window.explorerBack) {
  let path = location.pathname, bare = 0 // when the settings went
  const push = history.pushState
  history.pushState = (state, title, url) => {
    const to = new URL(url ?? "", location.href), same = to.pathname === location.pathname
    const step = !same && Date.now() - bare < MOMENT ? history.replaceState : push
    bare = same && location.search && !led() && !to.search ? Date.now() : 0
    step.call(history, state, title, url)
    path = location.pathname
  }
  window.explorerBack = () => {
    const other = location.pathname !== path
    path = location.pathname
    if (other && own()) location.reload()
  }
  window.addEventListener("popstate", window.explorerBack)
}

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))

// A colour between two, both written #rrggbb.
function between(one, other, share) {
  const [a, b] = [channels(one), channels(other)]
  const mixed = a.map((value, i) => Math.round(value + (b[i] - value) * share))
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`
}

// How bright a colour is, from 0 to 1 (WCAG 2.2, relative luminance).
const bright = (colour) => channels(colour)
  .map((part) => part / 255)
  .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
  .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0)

// A line's colour as its name is written: nearer to the ink until it is read at 4.5 to 1.
function legible(colour, { ink, ground }) {
  for (let share = 0; share < 1; share += 0.1) {
    const mixed = between(colour, ink, share)
    const [low, high] = [bright(mixed), bright(ground)].sort((a, b) => a - b)
    if ((high + 0.05) / (low + 0.05) >= 4.5) return mixed
  }
  return ink
}

// What the page's theme says, read from the variables that Streamlit sets.
function theme(style) {
  const get = (name) => style.getPropertyValue(`--st-${name}`).trim()
  const list = (name) => get(name).split(",").map((colour) => colour.trim())
  const [ink, ground] = [get("text-color"), get("background-color")]
  return {
    font: grown ? PLAIN : get("font"), // a picture cannot load the page's own
    ink,
    ground,
    line: get("border-color"),
    muted: between(ink, ground, 0.3),
    series: list("chart-categorical-colors"),
    rising: list("chart-sequential-colors"),
    parting: list("chart-diverging-colors"),
  }
}

// Figures carry stand-ins for the theme's colours: three palettes of ten, then four more.
function coloured(text, { series, rising, parting, line, muted, ink, ground }) {
  const colours = [undefined, ...series, ...rising, ...parting]
  Object.assign(colours, { 35: line, 36: muted, 37: ink, 38: ground })
  return JSON.parse(text.replace(/#0000(\d\d)/g, (whole, at) => colours[Number(at)] ?? whole))
}

function template({ font, ink, ground, line, muted, series }) {
  const axis = {
    gridcolor: line,
    linecolor: line,
    zerolinecolor: line,
    automargin: true,
    tickfont: { color: muted },
    title: { font: { color: muted } },
  }
  return {
    layout: {
      font: { family: font, color: ink, size: 13 },
      paper_bgcolor: ground,
      plot_bgcolor: ground,
      hoverlabel: { bgcolor: ground, bordercolor: line, font: { color: ink } },
      colorway: series,
      xaxis: { ...axis, showgrid: false },
      yaxis: axis,
    },
  }
}

const LARGER = 1.6 // type of a picture, which stands on slides and in print, to that of the page
const PLAIN = "Arial, Helvetica, sans-serif" // type of a picture, which is drawn where it is opened
const BROADEST = 1.15 // how much wider another machine's type may be than that
const [ACROSS, DOWN] = [960, 540] // pixels of such a picture: ten inches wide
const WRAP = 7 // pixels of a character, about
const LINE = 18 // pixels of a line of the caption, and of a tick's words
const BELOW = 76 // pixels that the axis and its title take
const CLEAR = "rgba(0,0,0,0)"
const DPI = 300
const RESOLUTION = [0, 0, 0, 9, 112, 72, 89, 115, 0, 0, 46, 35, 0, 0, 46, 35, 1, 120, 165, 63, 118]
// The part of a PNG that says 300 dots per inch, with its checksum
const AFTER = 33 // bytes of a PNG that come before it: the signature and the first part

// The chart as it stands, in large type on clear ground.
function printed(node) {
  const plot = plots.get(node.parentElement)
  grown = LARGER
  try {
    const own = coloured(plot.figure, theme(getComputedStyle(node)))
    const high = Math.max(DOWN, own.layout.height * (own.layout.meta?.rows ? LARGER : 1))
    const { data, layout } = composed(plot, ACROSS, high, (figure) => {
      figure.data.forEach((one, i) => Object.assign(one, seen(node.data[i])))
      for (const [name, axis] of Object.entries(figure.layout)) {
        const range = /^[xy]axis/.test(name) && !figure.layout.meta?.rows && node.layout[name]?.range
        if (range) Object.assign(axis, { range: [...range], autorange: false })
      }
    })
    return { data, layout: { ...layout, paper_bgcolor: CLEAR, plot_bgcolor: CLEAR } }
  } finally {
    grown = 0
  }
}

const seen = (trace) => (trace?.visible === undefined ? {} : { visible: trace.visible })

// The chart as a picture, with its caption, its source and its address below.
async function picture(node, format) {
  const { data, layout } = printed(node)
  told(node, layout)
  return taken({ data, layout }, format)
}

async function taken({ data, layout }, format) {
  const Plotly = await library()
  const size = { format, width: layout.width, height: layout.height, scale: format === "png" ? DPI / 96 : 1 }
  return bytes(await Plotly.toImage({ data, layout }, size), format)
}

// Writes the caption, the source and the address below a chart.
function told(node, layout) {
  const words = `${node.getAttribute("aria-label")} ${node.dataset.source}. ${location.href}`
  const lines = [""]
  for (const word of words.replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`).split(/\s+/)) {
    const longer = `${lines.at(-1)} ${word}`.trim()
    if (longer.length * WRAP > layout.width - 20 && lines.at(-1)) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  const below = Math.max(layout.margin?.b ?? 0, BELOW * LARGER)
  const more = lines.length * LINE + 16
  layout.height += more
  layout.margin = { ...layout.margin, b: below + more }
  layout.annotations = [...(layout.annotations ?? []), {
    text: lines.join("<br>"), showarrow: false, align: "left", font: { size: 12 },
    x: 0, xref: "paper", xanchor: "left", xshift: 8 - (layout.margin.l ?? 80),
    y: 0, yref: "paper", yanchor: "top", yshift: -below,
  }]
}

// What a data address holds; a picture of points says how many there are in an inch.
function bytes(url, format) {
  const [, held] = url.split(/,(.*)/s)
  if (format === "svg") return new Blob([decodeURIComponent(held)], { type: "image/svg+xml" })
  const all = Uint8Array.from(atob(held), (one) => one.charCodeAt(0))
  const parts = [all.slice(0, AFTER), Uint8Array.from(RESOLUTION), all.slice(AFTER)]
  return new Blob(parts, { type: "image/png" })
}

const save = async (node, format) => give(await picture(node, format), format)

function give(blob, format) {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = `epsilon-explorer.${format}`
  link.click()
  URL.revokeObjectURL(link.href)
}

// A page without encryption has no clipboard for pictures: there it is saved.
async function copy(node) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture(node, "png") })])
  } catch {
    await save(node, "png")
  }
}

const [LOWEST, HIGHEST] = [220, 880] // hertz, at the foot and at the head of the axis
const NOTE = 0.16 // seconds
const HALO = 6 // pixels from which on a line is no curve
let heard // what plays now
const CURVES = /"mode": ?"lines/ // in a figure that can be played

// Plays a curve from left to right: a note for each point, higher where it lies higher, and from left
// to right in both ears too. A second press ends it.
function hear(node) {
  const { name, notes } = heard ? { notes: [] } : melody(node)
  heard?.close()
  const sound = (heard = notes.length ? new AudioContext() : undefined)
  notes.forEach(({ place, height }, i) => {
    const [tone, volume, side] = [sound.createOscillator(), sound.createGain(), sound.createStereoPanner()]
    const [from, to] = [sound.currentTime + i * NOTE, sound.currentTime + (i + 1) * NOTE]
    tone.frequency.value = LOWEST * (HIGHEST / LOWEST) ** height
    side.pan.value = 2 * place - 1
    volume.gain.setValueAtTime(0.2, from)
    volume.gain.exponentialRampToValueAtTime(0.01, to)
    tone.connect(volume).connect(side).connect(sound.destination)
    tone.start(from)
    tone.stop(to)
    if (i === notes.length - 1) tone.onended = () => heard === sound && hear(node)
  })
  node.dispatchEvent(new CustomEvent("explorer.heard", { detail: { name, notes } }))
}

// The chosen method's name, and where the points of its curve lie, as parts of the axes, from left to
// right; the widest curve where none is chosen.
function melody(node) {
  const { xaxis, yaxis } = node._fullLayout
  const all = node._fullData ?? []
  const lines = all.filter((one) =>
    one.visible === true && one.mode?.includes("lines") && one.fill === "none" && one.x?.length > 2
    && one.line.width < HALO && one.xaxis === "x")
  const [widest] = lines.sort((a, b) => b.line.width - a.line.width || b.x.length - a.x.length)
  const line = all.find(({ meta }) => meta === "heard") ?? widest
  const notes = Array.from(line?.x ?? [], (x, i) => ({
    place: within(xaxis.d2p(x) / xaxis._length),
    height: within(1 - yaxis.d2p(line.y[i]) / yaxis._length),
  })).filter(({ place, height }) => Number.isFinite(place) && Number.isFinite(height))
    .sort((a, b) => a.place - b.place)
  return { name: line?.name, notes }
}

const within = (share) => Math.min(1, Math.max(0, share))

const DOWNWARDS = "M11 3h2v10l4-4 1.4 1.4L12 16.8 5.6 10.4 7 9l4 4zM4 19h16v2H4z"

// Made once for each chart: Plotly begins anew when the buttons are other objects than before.
const config = (node, words, curves) => ({
  ...(words["Zoom"] ? { locale: "own", locales: { own: { dictionary: words } } } : {}),
  displaylogo: false,
  responsive: false,
  modeBarButtons: [
    [{
      name: "copy",
      title: words["Copy as PNG"] ?? "Copy as PNG",
      icon: { width: 24, height: 24, path: "M16 1H4v16h2V3h10zm4 4H8v18h12zm-2 16h-8V7h8z" },
      click: () => copy(node),
    }, {
      name: "save",
      title: words["Save as SVG"] ?? "Save as SVG",
      icon: { width: 24, height: 24, path: DOWNWARDS },
      click: () => save(node, "svg"),
    }, {
      name: "savepng",
      title: words["Save as PNG (300 dpi)"] ?? "Save as PNG (300 dpi)",
      icon: { width: 24, height: 24, path: `${DOWNWARDS}M3 3h5v5H3z` },
      click: () => save(node, "png"),
    }, ...(curves ? [{
      name: "hear",
      title: words["Play the curve as sound"] ?? "Play the curve as sound",
      icon: {
        width: 24, height: 24,
        path: "M3 9v6h4l5 5V4L7 9zM14 8v8q2.5-1.2 2.5-4T14 8zM14 3.2v2.1q5 1.7 5 6.7t-5 6.7v2.1q7-1.8 7-8.8t-7-8.8z",
      },
      click: () => hear(node),
    }] : []), "zoom2d", "pan2d", "resetScale2d", {
      name: "fullscreen",
      title: words["Full screen"] ?? "Full screen",
      icon: {
        width: 24, height: 24,
        path: "M3 3h7v2H5v5H3zM14 3h7v7h-2V5h-5zM3 14h2v5h5v2H3zM19 14h2v7h-7v-2h5z",
      },
      click: () => (document.fullscreenElement ? document.exitFullscreen() : node.requestFullscreen()),
    }],
  ],
})

const FOOT = "[data-testid=stBottomBlockContainer]"
const FIXED = "[data-testid=stBottom]" // in a low window it follows the page
const BLOCK = "[data-testid=stMainBlockContainer]"
const ROOM = 12 // pixels that stay free below a chart
const ROWS = 104 // pixels of the two rows of buttons below a chart
const HEAD = 60 // pixels that Streamlit's own head takes
const LOW = 250 // a lower chart has a short title on its axis
const APART = 10 // pixels between the legend's lines where there is room
const ENTRY = 19 // pixels of a line of the legend
const BROAD = 500 // from this width on the legend stands beside the chart
const [TITLE, TICK] = [14, 13] // pixels of the type of titles and ticks
const MOST = 0.8 // the part of the width that a title takes at most
const SIDES = 90 // pixels beside the axes of a chart, about
const LONG = 30 // letters of a vertical title that a narrow chart has room for in one line
const [SMALL, LARGE] = [92, 190] // pixels of the names beside a narrow and a broad chart, at most
const BESIDE = 14 // pixels between the chart and the names of its lines
const BUTTONS = 30 // pixels that the chart's buttons take above a legend beside it
const NAMES = 76 // pixels that names beside rows of pictures take at most, with the margins
const SLOWLY = 1300 // milliseconds in which points move

// A touch screen shows the buttons always: in a narrow chart what stands at its top is below them.
const shown = (width) => (width < BROAD && matchMedia("(hover: none)").matches ? BUTTONS : 0)

const presented = () => new URLSearchParams(window.location.search).get("present") === "1"

// A chart is no higher than the window leaves; one that fits also leaves room for what is above it.
function height({ node }, { height, meta }) {
  if (meta?.rows) return height * scale() // a long list: the page scrolls
  const fixed = document.querySelector(FIXED)
  const low = fixed && getComputedStyle(fixed).position === "static"
  const foot = low ? 0 : (document.querySelector(FOOT)?.getBoundingClientRect().height ?? 0)
  const free = window.innerHeight - foot - ROOM
  // Square pictures get smaller in a narrow column, and leave no gap below them.
  const most = meta?.tall ? Math.min(height, meta.tall * (node.clientWidth - NAMES) + 24) : height
  const main = document.querySelector("[data-testid=stMain]")
  const above = node.getBoundingClientRect().top + (main?.scrollTop ?? 0)
  if (!meta?.fit || above > free) return Math.min(most, Math.max(320, free - HEAD))
  const drawnBy = !presented() && window.innerHeight >= 700 && window.innerWidth >= 700
  const below = drawnBy ? ROWS : 0
  if (low) return 330 // names of lines need as much: the page scrolls
  const least = window.innerWidth < 700 ? 330 : 190 // a phone scrolls a little for its chart
  return Math.max(Math.min(least, free - HEAD), Math.min(1.6 * height, free - above - below))
}

// Type grows with the page's own, as in presenter mode.
function enlarge(value, scale) {
  for (const [key, part] of Object.entries(value ?? {})) {
    if (typeof part !== "object") continue
    if (key.endsWith("font")) part.size = (part.size ?? 12) * scale
    else enlarge(part, scale)
  }
}

// A presenter's smallest words are half as large again, to be read from the last row.
let grown = 0
const scale = () => grown || Math.max(
  presented() ? 1.5 : 1, parseFloat(getComputedStyle(document.documentElement).fontSize) / 16,
)

// Short titles in a narrow or low chart; one that fits has its legend beside it where there is room.
function arrange({ data, layout }, width, look) {
  const [across, up] = [layout.xaxis?.title, layout.yaxis?.title]
  const narrow = width < BROAD
  if (narrow && across?.text?.startsWith("←")) {
    across.text = across.text.replace(/\s{2,}/g, " · ").replace(/privacy budget ε/i, "ε")
    const fits = wide(across.text, across.font?.size ?? TITLE, look) <= MOST * width
    if (!fits) across.text = across.text.replace(/ · [^·]*ε · /, " · ε · ")
  }
  if ((narrow || layout.height < LOW * scale()) && up?.text) up.text = up.text.split(" · ")[0]
  const guess = (layout.annotations ?? []).find(({ name }) => name === "guess")
  if (narrow && guess) guess.text = guess.text.split(":")[0] // curves have not left the rest
  if (narrow && up?.text?.length > LONG) up.text = up.text.replace(" [", "<br>[")
  if (layout.meta?.fit) layout.margin = { ...layout.margin, t: 10 }
  if (shown(width) && !ends(layout).length) under({ data, layout })
  if (layout.meta?.fit && !ends(layout).length) legend({ data, layout }, narrow)
}

// A legend above the chart begins below the buttons, and so do pictures and words at its top.
function under({ data, layout }) {
  const { legend, margin, meta, showlegend } = layout
  const named = data.filter((one) => one.showlegend !== false && one.type !== "heatmap")
  const seen = showlegend ?? (named.length > 1 || named.some((one) => one.showlegend))
  const above = seen && !meta?.fit && legend?.orientation === "h"
  if (!above && (margin?.t ?? BUTTONS) >= BUTTONS) return
  layout.height += BUTTONS
  const y = 1 - BUTTONS / layout.height
  if (above) layout.legend = { ...legend, yref: "container", y, yanchor: "top" }
  else layout.margin = { ...margin, t: margin.t + BUTTONS }
}

// All lines of the legend are in sight: the chart grows for them, and the legend never scrolls.
function legend({ data, layout }, narrow) {
  const lines = data.filter((one) => one.name && one.showlegend !== false).length
  if (!lines) return
  const rows = { font: { size: 12 }, itemwidth: 30, maxheight: 4000 }
  const high = lines * ENTRY * scale()
  if (narrow) {
    const free = layout.height - layout.margin.t - BELOW * scale()
    const further = (tall(layout.xaxis?.ticktext ?? []) - 1) * LINE * scale()
    const [below, room] = [BELOW * scale() + further, high + lines * APART]
    layout.height += room + further
    layout.margin = { ...layout.margin, b: below + room }
    layout.legend = { x: 0, y: -below / free, yanchor: "top", tracegroupgap: APART, ...rows }
    return
  }
  layout.height = Math.max(layout.height, high + BUTTONS + BELOW)
  const apart = Math.max(0, Math.min(APART, (layout.height - BUTTONS - BELOW - high) / lines))
  const y = 1 - BUTTONS / layout.height
  layout.legend = { x: 1.01, xanchor: "left", y, yanchor: "top", tracegroupgap: apart, ...rows }
}

const ends = (layout) => (layout.annotations ?? []).filter(({ name }) => name === "end")
const pen = document.createElement("canvas").getContext("2d")

// How wide a text is, in pixels, and at most in a picture; its lines count one by one.
function wide(text, size, { font }) {
  pen.font = `${size}px ${font}`
  const most = Math.max(...text.split("<br>").map((line) => pen.measureText(line).width))
  return grown ? BROADEST * most : most
}

// How many lines the tallest of some texts has.
const tall = (texts) => Math.max(1, ...texts.map((one) => one.split("<br>").length))

// A text in lines that are no wider than so many pixels, where its words allow it.
function wrapped(text, size, look, most) {
  const lines = [""]
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`.trim()
    if (lines.at(-1) && wide(longer, size, look) > most) lines.push(word)
    else lines[lines.length - 1] = longer
  }
  return lines.join("<br>")
}

// Places as near as can be to the wanted ones, in their order, with no label on another.
function apart(wanted, heights, low, high) {
  let sum = 0
  const offsets = heights.map((one, i) => (sum += i ? (heights[i - 1] + one) / 2 : 0))
  const pools = []
  wanted.forEach((place, i) => {
    pools.push({ mean: place - offsets[i], count: 1 })
    while (pools.length > 1 && pools.at(-2).mean > pools.at(-1).mean) {
      const [b, a] = [pools.pop(), pools.pop()]
      const count = a.count + b.count
      pools.push({ mean: (a.mean * a.count + b.mean * b.count) / count, count })
    }
  })
  const [least, most] = [low + heights[0] / 2, high - heights.at(-1) / 2 - sum]
  const place = ({ mean, count }) => Array(count).fill(Math.max(least, Math.min(most, mean)))
  return pools.flatMap(place).map((at, i) => at + offsets[i])
}

// Ticks whose words would lie on each other are left out; the last one always stays.
function thin(axis, across, look) {
  const [low, high] = axis.range
  let free = Infinity
  const kept = axis.tickvals.map((value, i) => ({ value, text: axis.ticktext[i] })).reverse()
    .filter(({ value, text }) => {
      const half = wide(text, axis.tickfont.size, look) / 2 + 2
      const at = (across * ((axis.type === "log" ? Math.log10(value) : value) - low)) / (high - low)
      if (at + half > free) return false
      free = at - half
      return true
    })
    .reverse()
  axis.tickvals = kept.map(({ value }) => value)
  axis.ticktext = kept.map(({ text }) => text)
}

// Which way is more private, beside the chosen budget above a chart too low for a title below it;
// what the numbers below are, left of them.
function sides({ layout }, title, across, look) {
  const { range, tickvals, ticktext, tickfont } = layout.xaxis
  const [left, ...others] = title.split(/\s{2,}| · /)
  if (!left.startsWith("←")) return
  const place = (at) => (across * (at - range[0])) / (range[1] - range[0])
  const column = tickvals[ticktext.findIndex((text) => !/^[\d.,]+$/.test(text))]
  const held = layout.annotations.find(({ name }) => name === "held")
  const past = held ? place(held.x) - wide(held.text, held.font.size, look) / 2 - BESIDE : across
  const end = column === undefined ? across : Math.min(2 * place(Math.log10(column)) - across, past)
  const flag = layout.annotations.find(({ text }) => text.startsWith("ε ="))
  const half = flag ? wide(flag.text, flag.font.size, look) / 2 + BESIDE : 0
  const at = flag ? place(flag.x) : end / 2
  const length = (text) => wide(text, tickfont.size, look)
  const side = (text, x, xanchor) => ({
    text, x: x / across, xref: "paper", xanchor, y: 1, yref: "paper", yanchor: "bottom",
    showarrow: false, font: { size: tickfont.size, color: look.muted },
  })
  const right = others.at(-1)
  // The axis is named left of its numbers: in full where that leaves the chart as wide as it is.
  const full = others.slice(0, -1).join(" ").replace(/privacy budget ε/i, "ε")
  const name = length(full) + 2 * BESIDE < layout.margin.l ? full : "ε"
  const below = { y: 0, yanchor: "top", xshift: -BESIDE, yshift: -4 * scale() }
  layout.annotations.push({ ...side(name, 0, "right"), ...below })
  if (length(left) < at - half) layout.annotations.push(side(left, 0, "left"))
  if (end - length(right) > at + half) layout.annotations.push(side(right, end, "right"))
}

// What the column holds stands above it where the chart is too low for a second line below.
function ranged({ layout }, look) {
  const { tickvals, ticktext, tickfont } = layout.xaxis
  layout.xaxis.ticktext = ticktext.map((one, i) => {
    const [name, held] = one.split(":<br>")
    if (held) layout.annotations.push({
      name: "held", text: held, x: Math.log10(tickvals[i]), y: 1, yref: "paper", yanchor: "bottom",
      showarrow: false, font: { size: tickfont.size, color: look.muted },
    })
    return name
  })
}

// The names of lines stand in a column beside the chart, each as near to its line as can be.
function nameLines({ layout }, width, look) {
  const { xaxis, yaxis } = layout
  const names = ends(layout).sort((a, b) => b.y - a.y)
  if (!names.length) return
  const most = (width < BROAD ? SMALL : LARGE) * scale()
  for (const one of names) one.font.color = legible(one.font.color, look)
  for (const one of names) one.text = wrapped(one.text, one.font.size, look, most)
  const column = Math.max(...names.map((one) => wide(one.text, one.font.size, look)))
  const ticks = Math.max(0, ...yaxis.ticktext.map((one) => wide(one, yaxis.tickfont.size, look)))
  const low = layout.height < LOW * scale()
  const named = xaxis.title.text
  if (low) {
    xaxis.title.text = "" // the chosen budget above the chart says what the axis is
    ranged({ layout }, look)
  }
  const below = tall(xaxis.ticktext) * xaxis.tickfont.size + (low ? 0 : xaxis.title.font.size)
  const bottom = Math.ceil(1.35 * below + (low ? 8 : 22))
  const top = Math.ceil(24 * scale()) + shown(width) // the chosen budget stands there
  const { title } = yaxis
  const room = layout.height - top - bottom
  if (wide(title.text, title.font.size, look) > room) title.text = title.text.split(" · ")[0]
  title.text = wrapped(title.text, title.font.size, look, room)
  const titles = title.text.split("<br>").length
  const margin = {
    l: Math.ceil(ticks + 1.4 * titles * title.font.size + title.standoff + 12),
    r: Math.ceil(column + BESIDE + 8),
    t: top,
    b: bottom,
  }
  const [across, high] = [width - margin.l - margin.r, layout.height - margin.t - margin.b]
  const place = ([low, top], value) => (value - low) / (top - low)
  const at = names.map((one) => high * (1 - place(yaxis.range, one.y)))
  const heights = names.map((one) => one.text.split("<br>").length * one.font.size * 1.35 + 3)
  const found = apart(at, heights, -margin.t, high + 4)
  // The words of named points keep clear of a narrow chart's steep lines; what has no room goes.
  if (width < BROAD) for (const one of layout.annotations) if (one.name === "stop") one.ay -= 20
  const sayable = ({ y, ay, font }) => high * (1 - place(yaxis.range, y)) + ay >= font.size
  layout.annotations = layout.annotations.filter((one) => one.name !== "stop" || sayable(one))
  thin(xaxis, across, look)
  names.forEach((one, i) => {
    one.ax = across + BESIDE - across * place(xaxis.range, one.x)
    one.ay = found[i] - at[i]
  })
  Object.assign(layout, { margin: { ...margin, pad: 0 }, showlegend: false })
  if (low) sides({ layout }, named, across, look)
  xaxis.automargin = yaxis.automargin = false
}

// Rows whose names have several lines take as much room as these: the rows below move down.
function spread({ data, layout }) {
  const { yaxis, margin } = layout
  const lines = yaxis.ticktext.map((text) => text.split("<br>").length)
  let all = 0
  const places = lines.map((count) => (all += count) - (count + 1) / 2)
  const moved = (y) => (y === null ? y : places[Math.round(y)] + y - Math.round(y))
  for (const one of data) one.y = one.y.map(moved)
  for (const one of layout.annotations ?? []) one.y = moved(one.y)
  layout.height += (all / lines.length - 1) * (layout.height - margin.t - margin.b)
  Object.assign(yaxis, { tickvals: places, range: [all - 0.4, -0.6] })
}

// Names of rows take at most two fifths of the width; what is longer has several lines.
// Names of groups, in bold, have their rows to themselves and stand at the left edge.
function nameRows(figure, width, look) {
  const { layout } = figure
  if (!layout.meta?.rows) return
  const { xaxis, yaxis } = layout
  const size = yaxis.tickfont.size
  const own = (text) => !text.startsWith("<b>")
  const named = yaxis.ticktext.map((text) => (own(text) ? wrapped(text, size, look, 0.4 * width) : text))
  yaxis.ticktext = named
  spread(figure)
  const heads = named.map((text, i) => ({ text, y: yaxis.tickvals[i] })).filter(({ text }) => !own(text))
  yaxis.ticktext = named.map((text) => (own(text) ? text : ""))
  const names = Math.max(0, ...yaxis.ticktext.map((one) => wide(one, size, look)))
  const margin = { ...layout.margin, l: Math.ceil(1.1 * names + 16), pad: 0 }
  layout.annotations = [...(layout.annotations ?? []), ...heads.map((head) => ({
    ...head, x: 0, xref: "paper", xanchor: "left", xshift: 8 - margin.l, showarrow: false,
    align: "left", font: { size, color: look.ink },
  }))]
  thin(xaxis, width - margin.l - margin.r, look)
  yaxis.automargin = false
  layout.margin = margin
}

// Ticks of any other axis whose places are given: its own words take about so much beside it.
function loosen(figure, width, look) {
  const { layout } = figure
  const { xaxis, meta } = layout
  if (!xaxis?.ticktext || !xaxis.range || !xaxis.tickfont?.size || meta?.rows) return
  if (!ends(layout).length) thin(xaxis, width - Math.max(90 * scale(), besides(figure, look)), look)
}

// Pixels that the axis' own margin and a legend beside the chart take of its width.
function besides({ data, layout }, look) {
  const { l = 0, r = 0 } = layout.margin ?? {}
  if (!(layout.legend?.x > 1)) return l + r
  const size = layout.legend.font?.size ?? TICK
  const named = data.filter((one) => one.name && one.showlegend !== false)
  return Math.max(l, 60) + Math.max(r, 60 + Math.max(0, ...named.map(({ name }) => wide(name, size, look))))
}

// Names at the side of a narrow chart take at most two fifths of its width: longer ones have several lines.
function nameKinds({ data, layout }, width, look) {
  const most = 0.4 * width
  const long = (text) => text?.split && wide(text, TICK, look) > most
  if (width >= BROAD || layout.meta?.rows || !data.some(({ y }) => y?.some?.(long))) return
  const short = (text) => (long(text) ? wrapped(text, TICK, look, most) : text)
  for (const one of data) one.y = one.y?.map(short)
  const { yaxis } = layout
  if (yaxis?.categoryarray) yaxis.categoryarray = yaxis.categoryarray.map(short)
  const names = [...new Set(data.flatMap(({ y }) => y ?? []))].map(String)
  const more = Math.max(...names.map((text) => text.split("<br>").length)) - 1
  layout.height += (names.length * more * LINE) / 2 // between rows there is room for half a line
}

// Titles below an axis are no wider than it, where their words allow it; in several lines, if need be.
function fold({ data, layout }, width, look) {
  const named = [...(layout.yaxis?.ticktext ?? []), ...data.flatMap(({ y }) => y ?? [])]
  const names = Math.max(0, ...named.map((text) => (text?.split ? wide(text, TICK, look) : 0)))
  const { l = 0, r = 0 } = layout.margin ?? {}
  const sides = Math.max(SIDES * scale(), l + r, names + 40 * scale())
  for (const [name, axis] of Object.entries(layout)) {
    if (!/^xaxis/.test(name) || !axis.title?.text || ends(layout).length) continue
    const { title, domain = [0, 1] } = axis
    const most = (domain[1] - domain[0]) * (width - sides)
    title.text = wrapped(title.text, title.font?.size ?? TITLE, look, most)
  }
}

const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches

// Points that stand elsewhere than before are seen to move there; what is to be waited for, if they do.
function move(Plotly, plot, figure) {
  const was = plot.node.layout?.meta?.move
  const same = plot.node.data?.length === figure.data.length
  if (!was || was === figure.layout.meta?.move || !same || still()) return null
  const data = figure.data.map(({ x, y }) => ({ x, y }))
  const slowly = { duration: SLOWLY, easing: "cubic-in-out" }
  const frame = { duration: SLOWLY, redraw: false }
  const how = { transition: slowly, frame, mode: "immediate" }
  return Plotly.animate(plot.node, { data }, how).catch(() => {}) // another picture came
}

// A picture that is the same for another move of the slider is not drawn again.
function note({ node, figure }) {
  const [found] = figure.match(META) ?? []
  if (found && node.layout) node.layout.meta = JSON.parse(`{${found}}`).meta
}

// A figure in the page's colours, with all that depends on its size; `change` sees it before that.
function composed({ figure: text, node }, width, high, change = () => {}) {
  const look = theme(getComputedStyle(node))
  const figure = coloured(text, look)
  Object.assign(figure.layout, { template: template(look), width, height: high })
  change(figure)
  arrange(figure, width, look)
  if (scale() > 1) enlarge(figure.layout, scale())
  nameLines(figure, width, look)
  nameRows(figure, width, look)
  loosen(figure, width, look)
  nameKinds(figure, width, look)
  fold(figure, width, look)
  return figure
}

// What is as before is the former object: Plotly draws everything again for any other.
function share(was, now) {
  for (const [key, value] of Object.entries(now)) {
    const plain = Array.isArray(value) && typeof value[0] !== "object"
    if (plain || key === "customdata" || key === "template") {
      if (JSON.stringify(value) === JSON.stringify(was?.[key])) now[key] = was[key]
    } else if (value && typeof value === "object") share(was?.[key], value)
  }
}

// A ring whose point is in sight is drawn whole, though it reaches beyond an axis: Plotly cuts shapes there.
function uncut(node) {
  const { xaxis, yaxis, shapes = [] } = node._fullLayout ?? {}
  const within = (axis, at) => axis.d2p(at) >= -1 && axis.d2p(at) <= axis._length + 1
  shapes.forEach(({ name, xanchor, yanchor }, i) => {
    if (name !== "ring" || !within(xaxis, xanchor) || !within(yaxis, yanchor)) return
    node.querySelector(`.shapelayer [data-index="${i}"]`)?.removeAttribute("clip-path")
  })
}

async function draw(parent) {
  const plot = plots.get(parent)
  const Plotly = window.Plotly ?? (await library())
  if (!plots.has(parent)) return // gone while the library was on its way
  const look = theme(getComputedStyle(parent))
  const width = plot.node.clientWidth
  const { layout } = JSON.parse(plot.figure)
  const whole = document.fullscreenElement === plot.node
  const high = whole ? window.innerHeight : height(plot, layout)
  const key = JSON.stringify([plot.figure.replace(META, ""), look, width, high, scale()])
  if (!width) return
  if (key === plot.key) return note(plot)
  plot.key = key
  const figure = composed(plot, width, high)
  plot.node.style.minHeight = `${figure.layout.height}px`
  const moving = move(Plotly, plot, figure)
  if (moving) await moving
  if (plot.key !== key) return // another picture came while the points moved
  share(plot.node, figure)
  const before = plot.node._fullLayout
  if (before) before.meta = figure.layout.meta // which is not drawn
  plot.drawing = Plotly.react(plot.node, figure.data, figure.layout, plot.config).then(uncut)
}

// Draws for another size, a frame after it is seen: words and a new figure come together, but
// sizes are told before the figure, and the figure before would be drawn for nothing.
function resize(parent) {
  const plot = plots.get(parent)
  if (!plot || plot.waiting) return
  plot.waiting = true
  requestAnimationFrame(() => setTimeout(() => {
    plot.waiting = false
    if (plots.get(parent) === plot) draw(parent)
  }))
}

function begin(parent, { figure, words = {} }) {
  const node = document.createElement("div")
  node.setAttribute("role", "figure")
  // The Tab key reaches the chart, and a screen reader reads its sentence. Streamlit looks for the first
  // control of a tab at every change, and finds this one before all parts of the picture.
  node.tabIndex = 0
  const curves = CURVES.test(figure)
  node.addEventListener("explorer.save", ({ detail }) => save(node, detail))
  // A page that makes a file of its own gets the picture without words, and gives the file back.
  node.addEventListener("explorer.file", ({ detail: { make, format } }) =>
    taken(printed(node), "png").then(make).then((blob) => give(blob, format)))
  if (curves) node.setAttribute("aria-keyshortcuts", "Enter")
  node.addEventListener("keydown", ({ key, target }) => key === "Enter" && target === node && hear(node))
  parent.appendChild(node)
  const resized = () => resize(parent)
  const observer = new ResizeObserver(resized)
  observer.observe(node)
  // What the foot leaves free changes with its words, and where the chart begins with those above.
  for (const one of document.querySelectorAll(`${FOOT}, ${BLOCK}`)) observer.observe(one)
  window.addEventListener("resize", resized) // the window's height alone changes no width
  plots.set(parent, { node, observer, resized, config: config(node, words, curves) })
}

function end(parent) {
  const plot = plots.get(parent)
  if (!plot) return
  plots.delete(parent)
  plot.observer.disconnect()
  window.removeEventListener("resize", plot.resized)
  plot.node.remove()
  const purge = () => window.Plotly?.purge(plot.node)
  Promise.resolve(plot.drawing).then(purge, purge) // Plotly ends a picture before it clears it
}

export default function ({ data, parentElement }) {
  if (!plots.has(parentElement)) begin(parentElement, data)
  const plot = plots.get(parentElement)
  plot.figure = data.figure
  plot.node.setAttribute("aria-label", data.alt)
  plot.node.dataset.source = data.source
  draw(parentElement)
  return () => end(parentElement)
}
