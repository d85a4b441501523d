// The menu's list has parts between the list and its items; as groups of links it is read right.
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
  };
  mend();
  if (!window.hakariMenu) {
    window.hakariMenu = new MutationObserver(mend);
    window.hakariMenu.observe(document.body, { childList: true, subtree: true });
  }
}
