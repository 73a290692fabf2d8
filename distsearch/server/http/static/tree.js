// The top of the tree that is searched, as nested lists: windows and bounds close as scores come in.

const COUNT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })

export class Tree {
  constructor(parent, title) {
    this.parent = parent
    this.title = title
    this.forget()
  }

  forget() {
    this.nodes = new Map()  // id → {item, line, below}
    this.of = ""
    this.parent.replaceChildren()
  }

  /** Show the tree of a `cluster` message; without one, the latest stays, and is said to have ended. */
  show(tree) {
    this.parent.classList.toggle("ended", tree === null)
    if (tree === null) {
      if (this.of && !this.title.textContent.endsWith("ended")) this.title.textContent += ", ended"
      return
    }
    const depth = tree.nodes[0].depth_left
    const of = `${tree.request} ${tree.game} ${tree.position} ${depth}`
    if (of !== this.of) this.forget()
    this.of = of
    this.title.textContent = `${tree.game}, ${depth} plies`
    const most = Math.max(1, ...tree.nodes.flatMap((node) => [node.alpha, node.beta, node.low, node.high]).map(Math.abs))
    const shown = new Set(tree.nodes.map(({ id }) => id))
    for (const [id, { item }] of this.nodes) if (!shown.has(id)) { item.remove(); this.nodes.delete(id) }
    for (const node of tree.nodes) this.showNode(node, most)
  }

  showNode(node, most) {
    const { item, line } = this.nodes.get(node.id) ?? this.add(node)
    item.dataset.status = node.status
    line.replaceChildren(
      part("move", node.move ?? (node.parent < 0 ? "root" : "chance")),
      part("status", node.worker === null ? node.status : `rank ${node.worker}`),
      bar(node, most),
      part("score", score(node)),
      part("more", `${node.depth_left} left${node.cost ? `, ${COUNT.format(node.cost)} nodes` : ""}`),
    )
  }

  add(node) {
    const item = document.createElement("li")
    const line = Object.assign(document.createElement("div"), { className: "node" })
    item.append(line)
    const made = { item, line, below: null }
    this.nodes.set(node.id, made)
    const above = this.nodes.get(node.parent)
    if (above) list(above).append(item)
    else this.parent.append(item)
    return made
  }
}

/** Return the list of what is below a node; with its first entry the node's line becomes one that opens and closes it. */
function list(above) {
  if (above.below) return above.below
  const details = Object.assign(document.createElement("details"), { open: true })
  const summary = Object.assign(document.createElement("summary"), { className: "node" })
  above.below = document.createElement("ul")
  summary.append(...above.line.childNodes)
  details.append(summary, above.below)
  above.line.replaceWith(details)
  above.line = summary
  return above.below
}

const part = (name, text) => Object.assign(document.createElement("span"), { className: name, textContent: text })

function rounded(value) {
  return Number.isInteger(value) ? value.toLocaleString("en") : COUNT.format(value)
}

/** Return in words what is known of a node's score, as the side to move sees it. */
function score({ low, high }) {
  if (low !== null && low === high) return `= ${rounded(low)}`
  const known = [low === null ? "" : `≥ ${rounded(low)}`, high === null ? "" : `≤ ${rounded(high)}`]
  return known.filter(Boolean).join(" ") || "?"
}

/** Return a bar: the bounds of the score as a block, the window that is asked for between two marks. */
function bar({ alpha, beta, low, high }, most) {
  const at = (value, otherwise) => (value === null ? otherwise : 50 + (49 * value) / most)
  const made = Object.assign(document.createElement("span"), { className: "bar", ariaHidden: true })
  const block = (name, from, to) => {
    const each = Object.assign(document.createElement("i"), { className: name })
    each.style.left = `${Math.min(from, to)}%`
    each.style.width = `${Math.max(Math.abs(to - from), 2)}%`
    made.append(each)
  }
  if (alpha === null || beta === null || alpha < beta) block("window", at(alpha, 0), at(beta, 100))
  block("bounds", at(low, 0), at(high, 100))
  made.title = `window ${alpha ?? "−∞"} to ${beta ?? "∞"}`
  return made
}
