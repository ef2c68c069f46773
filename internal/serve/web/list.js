"use strict";
document.documentElement.classList.add("scripted");
const state = document.querySelector("#state");

function say(text) {
  if (state.textContent !== text) state.textContent = text;
}

// poll replaces the list if it has changed, and keeps the focus on its link.
async function poll() {
  const list = document.querySelector("#list");
  try {
    if (!document.hidden) {
      const answer = await fetch(location.href, { cache: "no-store", headers: { "If-None-Match": list.dataset.tag } });
      if (answer.ok) {
        const next = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("#list");
        const link = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
        list.replaceWith(next);
        if (link) [...next.querySelectorAll("a")].find((a) => a.getAttribute("href") === link)?.focus();
      }
      say("The list is kept up to date.");
    }
  } catch {
    say("lockcheck serve has ended. The list is as it was.");
  }
  setTimeout(poll, 2000);
}
setTimeout(poll, 2000);

document.querySelector("select[name=show]").onchange = (e) => e.target.form.submit();
