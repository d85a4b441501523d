// Draws a component in a file: after its own script, which has `draw`, and the name of its elements.
const { choices, common } = JSON.parse(document.getElementById(`${name}-data`).textContent);
const chosen = document.getElementById(`${name}-choice`);
const root = document.getElementById(name).attachShadow({ mode: "open" });
root.append(document.getElementById(`${name}-content`).content.cloneNode(true));
const page = { parentElement: root, setTriggerValue() {}, setStateValue() {} };
const show = () => draw({ ...page, data: { ...common, ...choices[chosen.selectedIndex] } });
chosen.addEventListener("change", show);
show();
