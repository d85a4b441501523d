// What view.js knows of the elements of the page.

function otherSide(side) {
  return side === "reference" ? "candidate" : "reference";
}

function isInView(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= window.innerHeight;
}

function find(event) {
  const element = event.target.closest?.(".token");
  return element ? { side: element.dataset.side, index: Number(element.dataset.index) } : null;
}

function part(name, text, tag = "span") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.textContent = text;
  return element;
}
