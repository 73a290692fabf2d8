// The token comes behind the # of the page's address, which browsers send to no server. It is kept for this tab.
const given = new URLSearchParams(location.hash.slice(1)).get("token")
if (given) {
  sessionStorage.setItem("token", given)
  history.replaceState(null, "", location.pathname)
}
export const token = sessionStorage.getItem("token") ?? ""

for (const link of document.querySelectorAll("a[data-token]")) {
  link.search = new URLSearchParams({ token })
}
