// A lane for every rank: its last minute as a strip of shares of its time, and its latest figures.

const SAMPLES = 120  // of a strip
const BUSY = "#0072b2", COMMUNICATION = "#e69f00", LOST = "#cc79a7"  // are told apart by colour-blind people too
const COUNT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })
const MANY = 12  // ranks from which on lanes are low

const percent = (share) => (share === null ? "–" : `${Math.round(100 * share)}%`)

export class Lanes {
  /** `body` is that of a table whose columns are those of `lane`. */
  constructor(body) {
    this.body = body
    this.rows = new Map()  // rank → {row, cells, strip}
  }

  /** Show a `cluster` message. */
  show({ per_rank: ranks }) {
    this.body.parentElement.classList.toggle("many", ranks.length > MANY)
    for (const rank of [...this.rows.keys()].filter((each) => each >= ranks.length)) {
      this.rows.get(rank).row.remove()
      this.rows.delete(rank)
    }
    for (const now of ranks) this.showRank(now)
  }

  showRank(now) {
    const { row, cells, strip } = this.rows.get(now.rank) ?? this.add(now.rank)
    const name = now.role === "worker" ? now.device : now.role
    row.className = now.state
    const open = now.at_work + now.queued
    const figures = [
      now.host,
      now.state === "ready" ? name : now.state,
      null,
      percent(now.busy),
      now.nodes_per_second === null ? "–" : COUNT.format(now.nodes_per_second),
      COUNT.format(now.jobs),
      open ? `${now.at_work}+${now.queued}` : "0",
      percent(now.table_full),
    ]
    figures.forEach((text, i) => { if (text !== null) cells[i].textContent = text })
    const shares = `busy ${percent(now.busy)}, communication ${percent(now.communication)}, idle ${percent(now.idle)}`
    strip.setAttribute("aria-label", now.state === "lost" ? "lost" : shares)
    strip.title = shares
    draw(strip, now)
  }

  add(rank) {
    const row = document.createElement("tr")
    const head = Object.assign(document.createElement("th"), { scope: "row", textContent: rank })
    const cells = Array.from({ length: 8 }, () => document.createElement("td"))
    const strip = Object.assign(document.createElement("canvas"), { width: SAMPLES, height: 20 })
    strip.setAttribute("role", "img")
    cells[2].append(strip)
    row.append(head, ...cells)
    this.body.append(row)
    const made = { row, cells, strip }
    this.rows.set(rank, made)
    return made
  }
}

/** Move a strip to the left by a sample, and draw the latest one at its right end. */
function draw(strip, now) {
  const pen = strip.getContext("2d")
  const { width, height } = strip
  pen.globalCompositeOperation = "copy"
  pen.drawImage(strip, -1, 0)
  pen.globalCompositeOperation = "source-over"
  const block = (colour, from, share) => {
    pen.fillStyle = colour
    pen.fillRect(width - 1, height * (1 - from - share), 1, height * share)
  }
  if (now.state === "lost") block(LOST, 0, 1)
  else if (now.busy !== null) {
    block(BUSY, 0, now.busy)
    block(COMMUNICATION, now.busy, now.communication)
  }
}
