// The page: the form, the board, the answer and the state of the service.
import { drawBoard, onArrows } from "./board.js"
import { watchCluster } from "./cluster.js"
import { Game } from "./game.js"
import { status } from "./service.js"

const at = (id) => document.getElementById(id)
const COUNT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })
const KEPT = ["game", "size", "seconds", "policy", "first", "second"]

function settings() {
  return {
    game: at("game").value,
    size: at("size").value.trim(),
    seconds: Number(at("seconds").value) || 1,
    first: at("first").value,
    second: at("second").value,
    policy: at("policy").value,
    all: at("all").checked,
  }
}

const game = new Game(settings, draw)

function draw() {
  const { now, answer, searching, error } = game
  const told = answer ?? (now && !game.free ? game.latest : null)  // of the move before, while the computer plays on
  at("error").textContent = error
  at("stop").disabled = !searching
  at("search").disabled = !now || now.over || searching !== null
  at("undo").disabled = game.seen.length < 2
  if (!now) return
  const scores = Object.fromEntries((answer?.moves ?? []).map(({ move, score }) => [move, shown(score, answer)]))
  drawBoard(at("board"), now, { best: answer?.move ?? null, scores }, game.free, (move) => game.play(move))
  at("turn").textContent = turn(now)
  at("second").disabled = at("policy").disabled = !game.ofTwo
  if (document.activeElement !== at("position")) at("position").value = now.position
  at("move").textContent = told?.move ?? "–"
  at("score").textContent = told?.score == null ? "–" : (told.meaning ?? `${shown(told.score, told)} ${told.unit}`)
  at("depth").textContent = told?.book ? `book ${told.book}` : told?.depth ?? (told?.proved ? "to the end" : "–")
  at("nodes").textContent = told ? `${COUNT.format(told.nodes)}, ${COUNT.format(told.boards_per_second)}/s` : "–"
  at("deepening").textContent = game.depths.map(({ depth, move }) => `${depth} ${move}`).slice(-12).join(", ") || "–"
  at("line").textContent = told?.pv?.join(" ") || "–"
  const moves = game.seen.slice(1).map(({ by }) => Object.assign(document.createElement("li"), { textContent: by }))
  at("history").replaceChildren(...moves)
  at("history").scrollTop = at("history").scrollHeight
}

function turn(now) {
  const points = game.ofTwo ? "" : `${now.total.toLocaleString("en")} points`
  if (now.over) return now.result ?? `over: ${points}`
  if (!game.ofTwo) return points
  return `${now.side} to move${game.player === "it" ? " (computer)" : ""}`
}

/** Return a score as the answer's meaning has it: evaluations count in hundredths of a disc, for instance. */
function shown(score, answer) {
  if (score === null) return ""
  const meant = answer.unit === "evaluation" ? Number.parseFloat((answer.meaning ?? "").replaceAll(",", "")) : Number.NaN
  const scaled = meant && answer.score ? score * (meant / answer.score) : score
  return Math.abs(scaled) < 1000 && !Number.isInteger(scaled) ? scaled.toFixed(1) : Math.round(scaled).toLocaleString("en")
}

async function tellState() {
  try {
    const now = await status()
    const work = now.active || now.queued ? `${now.active} at work, ${now.queued} waiting, ` : ""
    const ranks = now.ranks === 1 ? "1 rank" : `${now.ranks} ranks`
    at("cluster").textContent = `${ranks}, ${work}${COUNT.format(now.boards_per_second)} nodes/s, ${now.state}`
    if (!at("game").options.length) await fill(now.games)
  } catch (error) {
    at("cluster").textContent = `no answer: ${error.message}`
  }
  setTimeout(tellState, 1000)
}

async function fill(names) {
  at("game").append(...names.map((name) => new Option(name, name)))
  const kept = JSON.parse(sessionStorage.getItem("settings") ?? "{}")
  if (names.includes("othello")) at("game").value = "othello"
  for (const id of KEPT) if (kept[id] !== undefined) at(id).value = kept[id]
  await game.begin(kept.position)
}

function keep() {
  const values = Object.fromEntries(KEPT.map((id) => [id, at(id).value]))
  sessionStorage.setItem("settings", JSON.stringify({ ...values, position: game.now?.position }))
}

at("new").addEventListener("click", () => game.begin())
at("undo").addEventListener("click", () => game.undo())
at("search").addEventListener("click", () => game.think())
at("stop").addEventListener("click", () => { game.stop(); draw() })
for (const id of ["game", "size"]) at(id).addEventListener("change", () => game.begin())
for (const id of ["first", "second"]) at(id).addEventListener("change", () => { draw(); game.goOn() })
at("paste").addEventListener("submit", (event) => {
  event.preventDefault()
  game.begin(at("position").value.trim() || "startpos")
})
onArrows(at("board"), (name) => game.free && game.now.moves.includes(name) && (game.play(name), true))
addEventListener("pagehide", keep)
tellState()
watchCluster()
