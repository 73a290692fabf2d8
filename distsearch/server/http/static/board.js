// A board drawn as buttons, one for each cell: what it holds, which moves are legal, and what they are worth.

const NAMES = { X: "first player", O: "second player", "-": "empty", ".": "empty" }
const ARROWS = { up: "↑", left: "←", down: "↓", right: "→" }

/**
 * Draw what `look` tells in `parent`, and call `play(move)` when a move is chosen.
 *
 * marks: {best: a move's text or null, scores: {move: text}}; enabled: whether a person may move now.
 */
export function drawBoard(parent, seen, marks, enabled, play) {
  if (!seen.cells) {
    drawText(parent, seen, marks, enabled, play)
    return
  }
  const columns = seen.cells[0].length
  const sliding = seen.moves.every((move) => move in ARROWS) && seen.side === null && !isOfTwo(seen.game)
  const grid = document.createElement("div")
  grid.className = `board ${sliding ? "sliding" : seen.game}`
  grid.style.setProperty("--columns", columns)
  grid.setAttribute("role", "group")
  seen.cells.forEach((row, y) => {
    row.forEach((holds, x) => grid.append(cellOf(seen, holds, x, y, sliding, marks, enabled, play)))
  })
  parent.replaceChildren(grid)
  if (sliding) parent.append(arrows(seen, marks, enabled, play))
}

const isOfTwo = (game) => game === "othello" || game === "connect4"

/** Return the move that a cell stands for, or null. */
function moveAt(seen, x, y) {
  const letter = String.fromCharCode(97 + x)
  const named = seen.game === "connect4" ? String(x + 1) : `${letter}${y + 1}`
  return seen.moves.includes(named) ? named : null
}

function cellOf(seen, holds, x, y, sliding, marks, enabled, play) {
  const move = sliding ? null : moveAt(seen, x, y)
  const cell = document.createElement(sliding ? "div" : "button")
  const empty = NAMES[holds] === "empty"
  const landing = seen.game !== "connect4" || (empty && (seen.cells[y + 1]?.[x] ?? "X") !== "-")
  const shown = move !== null && landing
  cell.className = "cell"
  cell.dataset.holds = holds
  cell.classList.toggle("legal", shown && enabled)
  cell.classList.toggle("best", shown && marks.best === move)
  const text = sliding ? (empty ? "" : holds) : shown ? (marks.scores[move] ?? "") : ""
  if (text) cell.append(Object.assign(document.createElement("span"), { textContent: text }))
  if (sliding) {
    Object.assign(cell.style, tileColours(empty ? 0 : Number(holds)))
    return cell
  }
  cell.disabled = !(move !== null && enabled)
  const place = `${String.fromCharCode(97 + x)}${y + 1}`
  cell.setAttribute("aria-label", `${place}, ${NAMES[holds] ?? holds}${shown ? ", legal" : ""}${text ? `, ${text}` : ""}`)
  if (!cell.disabled) cell.addEventListener("click", () => play(move))
  return cell
}

function tileColours(value) {
  if (!value) return { background: "rgb(255 255 255 / .12)" }
  const level = Math.log2(value)
  return { background: `hsl(${(45 - 14 * level + 720) % 360} 60% ${Math.max(34, 82 - 4 * level)}%)`, color: level < 6 ? "#1d1f22" : "#fff" }
}

function arrows(seen, marks, enabled, play) {
  const pad = document.createElement("div")
  pad.className = "arrows"
  for (const name of ["", "up", "", "left", "down", "right"]) {
    if (!name) {
      pad.append(document.createElement("span"))
      continue
    }
    const button = Object.assign(document.createElement("button"), { textContent: ARROWS[name] })
    button.setAttribute("aria-label", marks.scores[name] ? `${name}, ${marks.scores[name]}` : name)
    button.title = marks.scores[name] ?? name
    button.classList.toggle("best", marks.best === name)
    button.disabled = !enabled || !seen.moves.includes(name)
    button.addEventListener("click", () => play(name))
    pad.append(button)
  }
  return pad
}

/** A game that is not drawn by cells: its drawing, and a button for every move. */
function drawText(parent, seen, marks, enabled, play) {
  const drawing = Object.assign(document.createElement("pre"), { className: "board", textContent: seen.drawing })
  const moves = Object.assign(document.createElement("p"), { className: "buttons" })
  for (const move of seen.moves) {
    const said = marks.scores[move] ? `${move} (${marks.scores[move]})` : move
    const button = Object.assign(document.createElement("button"), { textContent: said, disabled: !enabled })
    button.classList.toggle("main", marks.best === move)
    button.addEventListener("click", () => play(move))
    moves.append(button)
  }
  parent.replaceChildren(drawing, moves)
}

/** Call `play` with the move of an arrow key or of a swipe over `parent`, if it is legal. */
export function onArrows(parent, play) {
  addEventListener("keydown", (event) => {
    const name = event.key.replace("Arrow", "").toLowerCase()
    if (!(name in ARROWS) || event.target.matches("input, select")) return
    if (play(name)) event.preventDefault()
  })
  let from = null
  parent.addEventListener("pointerdown", (event) => { from = event })
  parent.addEventListener("pointerup", (event) => {
    if (!from) return
    const [x, y] = [event.clientX - from.clientX, event.clientY - from.clientY]
    from = null
    if (Math.max(Math.abs(x), Math.abs(y)) < 30) return
    play(Math.abs(x) > Math.abs(y) ? (x > 0 ? "right" : "left") : y > 0 ? "down" : "up")
  })
}
