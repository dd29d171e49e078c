// A chart as a slide of PowerPoint: its sentence as the title, its picture, the guarantee as notes.

const CODES = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1
  return n
})

// The checksum of a zip's file (CRC-32).
function checksum(bytes) {
  let code = -1
  for (const byte of bytes) code = CODES[(code ^ byte) & 255] ^ (code >>> 8)
  return ~code
}

// Files as a zip, as they are: pictures hardly get smaller. Each has a head, and a line in the list.
function zipped(files) {
  const parts = []
  const list = []
  let at = 0
  for (const [name, bytes] of files) {
    const named = new TextEncoder().encode(name)
    const facts = new DataView(new ArrayBuffer(26)) // from the version that is needed to the name's length
    for (const [place, value] of [[0, 20], [2, 0x800], [8, 0x21]]) facts.setUint16(place, value, true)
    facts.setInt32(10, checksum(bytes), true)
    for (const place of [14, 18]) facts.setUint32(place, bytes.length, true)
    facts.setUint16(22, named.length, true)
    const place = new DataView(new ArrayBuffer(14)) // no comment, no rights, and where its head is
    place.setUint32(10, at, true)
    parts.push("PK\x03\x04", facts, named, bytes)
    list.push("PK\x01\x02", new Uint8Array([20, 0]), facts, place, named)
    at += 30 + named.length + bytes.length
  }
  const end = new DataView(new ArrayBuffer(18))
  for (const place of [4, 6]) end.setUint16(place, files.length, true)
  end.setUint32(8, list.reduce((sum, one) => sum + (one.length ?? one.byteLength), 0), true)
  end.setUint32(12, at, true)
  return new Blob([...parts, ...list, "PK\x05\x06", end])
}

const escaped = (text) => text
  .replace(/[^\t\n\r\x20-\ud7ff\ue000-\ufffd]/g, "")
  .replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)

// The slide of a picture, as large as its room lets it be.
window.slide = async (png, { title, below, notes }) => {
  const { parts, room } = window.deck
  const { width, height } = await createImageBitmap(png)
  const scale = Math.min(room.wide / width, room.high / height)
  const [across, down] = [width, height].map((one) => Math.round(scale * one))
  const left = room.left + Math.round((room.wide - across) / 2)
  const lines = notes.map(escaped).join("</a:t></a:r></a:p><a:p><a:r><a:t>")
  const words = {
    TITLE: escaped(title), BELOW: escaped(below), NOTES: lines,
    LEFT: left, UPPER: room.top, ACROSS: across, DOWN: down,
  }
  const { PICTURE, ...texts } = parts
  const places = /(?<=[>"])(TITLE|BELOW|NOTES|LEFT|UPPER|ACROSS|DOWN)(?=[<"])/g
  const files = Object.entries(texts).map(([name, text]) =>
    [name, new TextEncoder().encode(text.replace(places, (place) => words[place]))])
  return zipped([...files, [PICTURE, new Uint8Array(await png.arrayBuffer())]])
}
