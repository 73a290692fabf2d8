// A game on the page: its positions so far, who plays, and the search for the computer's move or for a hint.
import { look, search } from "./service.js"

export class Game {
  /** `changed` is called whenever something is to be drawn anew; `settings()` returns what the form says. */
  constructor(settings, changed) {
    this.settings = settings
    this.changed = changed
    this.seen = []  // what `look` told of each position, with `by`, the move that led there, and the points so far
    this.answer = null  // the latest message of a search of this position
    this.latest = null  // the answer to the latest search
    this.depths = []  // messages of the latest search, one for each depth
    this.error = ""
    this.searching = null  // an AbortController
    this.turns = 0  // counts what is begun, so that late answers are dropped
  }

  get now() {
    return this.seen.at(-1) ?? null
  }

  get ofTwo() {
    return this.seen[0]?.side !== null
  }

  /** Whose move it is: "you" or "it". */
  get player() {
    const { first, second } = this.settings()
    return this.now.side === "O" ? second : first
  }

  get free() {
    return this.now !== null && !this.now.over && this.player === "you"
  }

  asked() {
    const { game, size } = this.settings()
    return { game, ...(size ? { board: size } : {}) }
  }

  begin(position = "startpos") {
    return this.change({ position }, (found) => { this.seen = [{ ...found, by: null, total: 0 }] })
  }

  play(move) {
    if (!this.now?.moves.includes(move)) return
    const { position, total } = this.now
    const add = (found) => this.seen.push({ ...found, by: move, total: total + found.points })
    return this.change({ position, move }, add)
  }

  /** Go back to your last turn, or one move where there is none. */
  undo() {
    if (this.seen.length < 2) return
    this.stop()
    this.turns += 1
    const yours = this.seen.slice(0, -1).findLastIndex((seen) => this.isYours(seen))
    this.seen.length = yours < 0 ? this.seen.length - 1 : yours + 1
    this.answer = null
    this.changed()
  }

  isYours(seen) {
    const { first, second } = this.settings()
    return (seen.side === "O" ? second : first) === "you"
  }

  /** Look at what is asked, take what is found if nothing was begun meanwhile, and have the computer move in its turn. */
  async change(asked, take) {
    this.stop()
    const turn = ++this.turns
    try {
      const found = await look({ ...this.asked(), ...asked, seed: seed() })
      if (turn !== this.turns) return
      take(found)
      this.answer = null
      this.error = ""
      setTimeout(() => this.goOn(turn))  // not awaited: a game may have 20,000 moves
    } catch (error) {
      if (turn !== this.turns) return
      this.error = error.message
    }
    this.changed()
  }

  async goOn(turn = this.turns) {
    if (turn !== this.turns || this.searching || !this.now || this.now.over || this.player !== "it") return
    const only = this.now.moves.length === 1 ? this.now.moves[0] : null
    const move = only ?? (await this.think(turn))?.move
    if (move && turn === this.turns) await this.play(move)
  }

  /** Search this position; return the answer, or null. */
  async think(turn = this.turns) {
    if (!this.now || this.now.over) return null
    this.error = ""
    const { seconds, all, policy } = this.settings()
    this.depths = []
    const ended = (this.searching = new AbortController())
    this.changed()
    const told = (message) => {
      if (turn !== this.turns) return
      this.answer = message
      this.noteDepth(message)
      this.changed()
    }
    let answer = null
    try {
      const limits = { time: seconds, progress: 0.25, ...(all ? { all_moves: true } : {}) }
      if (policy && this.ofTwo) limits.policy = policy
      answer = await search({ ...this.asked(), position: this.now.position, ...limits }, told, ended.signal)
    } catch (error) {
      if (turn === this.turns) this.error = error.message
    }
    if (this.searching === ended) this.searching = null
    if (turn !== this.turns) return null
    if (answer) {
      this.answer = this.latest = answer
      this.noteDepth(answer)
    }
    this.changed()
    return answer
  }

  noteDepth(message) {
    if (message.move && message.depth > (this.depths.at(-1)?.depth ?? 0)) this.depths.push(message)
  }

  stop() {
    this.searching?.abort()
    this.searching = null
  }
}

const seed = () => Math.floor(Math.random() * 2 ** 31)
