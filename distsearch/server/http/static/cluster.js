// The cluster as it works: it is watched as long as the page is seen, and again when the service is back.
import { Lanes } from "./lanes.js"
import { watch } from "./service.js"
import { Tree } from "./tree.js"

const EVERY = 0.5, AGAIN = 1000  // seconds between two messages; milliseconds before the next try
const COUNT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 })
const at = (id) => document.getElementById(id)

export function watchCluster() {
  const lanes = new Lanes(at("lanes"))
  const tree = new Tree(at("tree"), at("treeof"))
  let ended = new AbortController()

  function told(message) {
    const hosts = new Set(message.per_rank.map(({ host }) => host)).size
    const where = `${message.per_rank.length} ranks on ${hosts} host${hosts === 1 ? "" : "s"}`
    at("rates").textContent = `${where}, ${COUNT.format(message.nodes_per_second)} nodes/s`
    lanes.show(message)
    tree.show(message.tree)
  }

  async function goOn() {
    for (;;) {
      if (!document.hidden) {
        ended = new AbortController()
        await watch(EVERY, told, ended.signal).catch((error) => { at("rates").textContent = `no answer: ${error.message}` })
      }
      await new Promise((resolve) => setTimeout(resolve, AGAIN))
    }
  }

  document.addEventListener("visibilitychange", () => { if (document.hidden) ended.abort() })
  goOn()
}
