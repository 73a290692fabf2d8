// Requests to the service. Each returns what the service tells, or throws an Error with the service's words.
import { token } from "./token.js"

// by which the service knows which searches are this page's
const label = Array.from(crypto.getRandomValues(new Uint32Array(2)), (part) => part.toString(36)).join("")
const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" }

async function refused(response) {
  const told = await response.json().catch(() => ({}))
  return new Error(told.error?.message ?? `the service answers ${response.status}`)
}

export async function status() {
  const response = await fetch("/status", { headers })
  if (!response.ok) throw await refused(response)
  return response.json()
}

/** Return a position's board and legal moves; `asked` may have a move, which is played first. */
export async function look(asked) {
  const response = await fetch("/look", { method: "POST", headers, body: JSON.stringify(asked) })
  if (!response.ok) throw await refused(response)
  return response.json()
}

/** Search; call `told` with every message of progress; return the answer, or null if `signal` ended it. */
export async function search(asked, told, signal) {
  const streamed = { ...headers, Accept: "application/x-ndjson" }
  try {
    const response = await fetch("/search", { method: "POST", headers: streamed, body: JSON.stringify({ ...asked, label }), signal })
    if (!response.ok) throw await refused(response)
    let answer = null
    for await (const message of lines(response.body)) {
      if (message.type === "progress") told(message)
      if (message.type === "answer") answer = message
      if (message.error) throw new Error(message.error.message)
    }
    return answer
  } catch (error) {
    if (error.name === "AbortError") return null
    throw error
  }
}

/** Call `told` with what all ranks do, every so many seconds, until `signal` or the service ends it. */
export async function watch(every, told, signal) {
  const streamed = { ...headers, Accept: "application/x-ndjson" }
  try {
    const response = await fetch(`/watch?every=${every}&label=${label}`, { headers: streamed, signal })
    if (!response.ok) throw await refused(response)
    for await (const message of lines(response.body)) if (message.type === "cluster") told(message)
  } catch (error) {
    if (error.name !== "AbortError") throw error
  }
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const parts = (rest + value).split("\n")
    rest = parts.pop()
    for (const part of parts) if (part.trim()) yield JSON.parse(part)
  }
  if (rest.trim()) yield JSON.parse(rest)
}
