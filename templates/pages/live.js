// Live parts of a page: the server sends finished HTML for one element at a time.
//   event: part   data: {"id": "timeline", "html": "<li>...</li>", "how": "replace" | "buttons"}
// Without this file every page still works; it only has to be loaded again.
(() => {
  const box = document.querySelector("[data-live]");
  if (!box || !window.EventSource) return;
  const sign = document.getElementById("live"), word = sign.querySelector("b");
  const show = (state, text) => { sign.dataset.s = state; word.textContent = text; sign.hidden = false; };
  const offered = () => [...document.querySelectorAll("button[name=verb]")].map((one) => one.value).join(" ");
  const isWriting = () => [...document.querySelectorAll("input[name=hint]")].some((one) => one.value || one === document.activeElement);
  const replace = (target, html) => {
    if (target !== document.activeElement && target.contains(document.activeElement)) return;
    const open = [...target.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
    target.innerHTML = html;
    for (const one of target.querySelectorAll("details > summary")) one.parentElement.open = open.includes(one.textContent);
  };
  const source = new EventSource(box.dataset.live);
  source.onopen = () => show("on", "live");
  source.onerror = () => show("off", source.readyState === 2 ? "not live, reload the page" : "reconnecting");
  source.addEventListener("part", (event) => {
    const { id, html, how } = JSON.parse(event.data);
    if (how === "buttons") {
      if (html === offered()) return;
      if (isWriting()) show("off", "changed, reload the page");
      else location.reload();
      return;
    }
    const target = document.getElementById(id);
    if (target) replace(target, html);
  });
  source.addEventListener("end", () => { source.close(); show("done", "finished"); });
})();
