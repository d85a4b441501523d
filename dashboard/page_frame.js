// The menu's list has parts between the list and its items; as groups of links it is read right. Popovers are as dark as the
// app.
// A block, because the script runs again with every language: a name is declared once in a document.
{
  document.documentElement.lang = "LANGUAGE";
  const mend = () => {
    document.querySelectorAll('[data-testid="stSidebarNavItems"]:not([role])').forEach((list) => {
      list.setAttribute("role", "group");
    });
    document.querySelectorAll('[data-testid="stSidebarNavItems"] li:not([role])').forEach((item) => {
      item.setAttribute("role", "presentation");
    });
    // What opens beside the app, outside of it, does not know whether the app is dark, on which page_frame.css depends.
    document.querySelectorAll('[data-testid="stPopoverBody"]:not([style*="color-scheme"])').forEach((body) => {
      const app = document.querySelector('[data-testid="stApp"]');
      body.style.colorScheme = app ? getComputedStyle(app).colorScheme : "";
    });
    // What moves to the side is moved by keys, too.
    document.querySelectorAll('[data-testid="stMarkdownContainer"]:has(> table)').forEach((box) => {
      box.toggleAttribute("tabindex", box.scrollWidth > box.clientWidth);
      if (box.hasAttribute("tabindex")) box.tabIndex = 0;
    });
  };
  mend();
  if (!window.hakariMenu) {
    window.hakariMenu = new MutationObserver(mend);
    window.hakariMenu.observe(document.body, { childList: true, subtree: true });
    window.addEventListener("resize", mend);
  }
  // Texts shown as they are have word joiners where Markdown would combine characters: they are no part of what is copied.
  if (!window.hakariCopy) {
    window.hakariCopy = (event) => {
      const chosen = document.getSelection().toString();
      if (!event.defaultPrevented && chosen.includes("\u2060")) {
        event.clipboardData.setData("text/plain", chosen.replaceAll("\u2060", ""));
        event.preventDefault();
      }
    };
    document.addEventListener("copy", window.hakariCopy);
  }
}
