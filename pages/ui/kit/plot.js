// Draws a Plotly figure and, when the figure changes, changes the picture in place: what the
// user has zoomed or hidden stays, and nothing flickers while a run goes on. (Streamlit's own
// chart element is made anew for every new figure.)

const LIBRARY = 50 // milliseconds between two looks for the library
const META = /"meta":\{[^}]*\}/ // the move of the slider that a picture belongs to
const plots = new WeakMap() // element -> what is drawn in it

const library = () =>
  new Promise((done) => {
    const look = () => (window.Plotly ? done(window.Plotly) : setTimeout(look, LIBRARY))
    look()
  })

const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16))

// A colour between two, both written #rrggbb.
function between(one, other, share) {
  const [a, b] = [channels(one), channels(other)]
  const mixed = a.map((value, i) => Math.round(value + (b[i] - value) * share))
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`
}

// What the page's theme says, read from the variables that Streamlit sets.
function theme(style) {
  const get = (name) => style.getPropertyValue(`--st-${name}`).trim()
  const list = (name) => get(name).split(",").map((colour) => colour.trim())
  const [ink, ground] = [get("text-color"), get("background-color")]
  return {
    font: get("font"),
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
  const places = [...series, ...rising, ...parting].map((colour, i) => [i + 1, colour])
  places.push([35, line], [36, muted], [37, ink], [38, ground])
  for (const [number, colour] of places) {
    text = text.replaceAll(`#${String(number).padStart(6, "0")}`, colour)
  }
  return JSON.parse(text)
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

// Made once for each chart: Plotly begins anew when the buttons are other objects than before.
const config = (node) => ({
  displaylogo: false,
  responsive: false,
  toImageButtonOptions: { format: "svg" },
  modeBarButtons: [
    ["toImage", "zoom2d", "pan2d", "resetScale2d", {
      name: "fullscreen",
      title: "Full screen",
      icon: {
        width: 24, height: 24,
        path: "M3 3h7v2H5v5H3zM14 3h7v7h-2V5h-5zM3 14h2v5h5v2H3zM19 14h2v7h-7v-2h5z",
      },
      click: () => (document.fullscreenElement ? document.exitFullscreen() : node.requestFullscreen()),
    }],
  ],
})

// A picture that is the same for another move of the slider is not drawn again.
function note({ node, figure }) {
  const [found] = figure.match(META) ?? []
  if (found && node.layout) node.layout.meta = JSON.parse(`{${found}}`).meta
}

async function draw(parent) {
  const plot = plots.get(parent)
  const Plotly = await library()
  if (!plots.has(parent)) return // gone while the library was on its way
  const look = theme(getComputedStyle(parent))
  const width = plot.node.clientWidth
  const key = JSON.stringify([plot.figure.replace(META, ""), look, width, window.innerHeight])
  if (!width) return
  if (key === plot.key) return note(plot)
  plot.key = key
  const figure = coloured(plot.figure, look)
  figure.layout.template = template(look)
  figure.layout.width = width
  if (document.fullscreenElement === plot.node) figure.layout.height = window.innerHeight
  plot.drawing = Plotly.react(plot.node, figure.data, figure.layout, plot.config)
}

function begin(parent) {
  const node = document.createElement("div")
  node.setAttribute("role", "figure")
  parent.appendChild(node)
  const observer = new ResizeObserver(() => draw(parent))
  observer.observe(node)
  plots.set(parent, { node, observer, config: config(node) })
}

function end(parent) {
  const plot = plots.get(parent)
  if (!plot) return
  plots.delete(parent)
  plot.observer.disconnect()
  plot.node.remove()
  const purge = () => window.Plotly?.purge(plot.node)
  Promise.resolve(plot.drawing).then(purge, purge) // Plotly ends a picture before it clears it
}

export default function ({ data, parentElement }) {
  if (!plots.has(parentElement)) begin(parentElement)
  const plot = plots.get(parentElement)
  plot.figure = data.figure
  plot.node.setAttribute("aria-label", data.alt)
  draw(parentElement)
  return () => end(parentElement)
}
