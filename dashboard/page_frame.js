// The menu's list has parts between the list and its items; as groups of links it is read right. Popovers are as dark as the
// app.
// A block, because the script runs again with every language: a name is declared once in a document.
{
  document.documentElement.lang = "LANGUAGE";
  // What Streamlit's widgets say in English, and how the page says it; what each of their parts said, and says now.
  window.hakariWords = "WORDS".map(([form, said]) => [new RegExp(`^${form}$`), new RegExp(`^${form}(?=$|: )`), said]);
  window.hakariSaid ??= new WeakMap();
  const WIDGETS = [
    '[data-testid="stFileUploaderDropzone"] > :not(:has([data-testid="stFileChip"]))',
    '[data-testid="stFileUploaderDropzone"] button[aria-label]',
    '[data-testid="InputInstructions"]',
    ':is([data-testid="stSelectbox"], [data-testid="stMultiSelect"]) input[placeholder]',
    '[data-testid="stElementToolbarButton"] button[aria-label]',
    ':is([data-testid="stTooltipContent"], [data-testid="stTooltipErrorContent"])',
    '[data-testid="stDataFrameColumnMenu"] [role="menuitem"]',
    '[data-testid="stMainMenuList"] button',
  ].join();
  // Nothing that somebody wrote stands in these places: an option, a column or a file may have the name of a button.
  const say = (node, text, put, isLabel = false) => {
    const [first, last] = window.hakariSaid.get(node) ?? [];
    const english = text === last ? first : text;
    // The label of a button of a table says after a colon of which table it is.
    const words = window.hakariWords.map(([whole, start, said]) => [isLabel ? start : whole, said]);
    const word = words.find(([form]) => form.test(english));
    const said = word ? english.replace(...word) : english;
    window.hakariSaid.set(node, [english, said]);
    if (said !== text) put(said);
  };
  const sayAll = (part) => {
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const node = texts.currentNode;
      say(node, node.nodeValue, (said) => {
        node.nodeValue = said;
      });
    }
    const name = part.matches("input") ? "placeholder" : "aria-label";
    if (part.hasAttribute(name)) say(part, part.getAttribute(name), (said) => part.setAttribute(name, said), true);
  };
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
    document.querySelectorAll(WIDGETS).forEach(sayAll);
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
