// SPDX-License-Identifier: Apache-2.0
// Data of the instance is only inserted as text, because clients and configuration control much of it.

export const API = "api/v1/";
export const UNREACHABLE = "The instance is unreachable.";
const TIMEOUT_MILLIS = 5000;

export const byId = id => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
    const created = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) {
        created.setAttribute(attribute, value);
    }
    created.append(...children);
    return created;
}

export const inline = value => element("bdi", {}, value);
export const isolated = value => element("bdi", {class: "bounded"}, value);

export function setText(node, value) {
    if (node.textContent !== value) {
        node.textContent = value;
    }
}

export const perSecond = value => value.toFixed(1);
export const percent = value => `${(value * 100).toFixed(1)} %`;
export const count = value => value.toLocaleString("en");
export const time = millis => new Date(millis).toLocaleTimeString("en-GB");
export const dateTime = millis => new Date(millis).toLocaleString("en-GB");

export function duration(millis) {
    if (millis < 1000) {
        return `${millis} ms`;
    }
    const seconds = Math.ceil(millis / 1000);
    const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
    let rest = seconds;
    const parts = [];
    for (const [size, unit] of units) {
        if (rest >= size) {
            parts.push(`${Math.floor(rest / size)} ${unit}`);
            rest %= size;
        }
    }
    return parts.slice(0, 2).join(" ");
}

// On a narrow screen, a table of more than three columns shows each row as a list, so that no cell and no button is out of view.
const MAX_NARROW_COLUMNS = 3;

function stack(heads, rows) {
    for (const row of rows) {
        row.setAttribute("role", "row");
        [...row.children].forEach((cell, index) => {
            cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell");
            if (cell.tagName !== "TH" && heads[index] !== "") {
                cell.dataset.label = heads[index].replace("#", "");
            }
        });
    }
}

export function table(heads, rows) {
    const head = element("tr", {}, ...heads.map(name => name.startsWith("#")
        ? element("th", {scope: "col", class: "number"}, name.slice(1))
        : element(name === "" ? "td" : "th", name === "" ? {} : {scope: "col"}, name)));
    if (heads.length <= MAX_NARROW_COLUMNS) {
        return element("div", {class: "wide"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
    }
    stack(heads, rows);
    head.setAttribute("role", "row");
    [...head.children].forEach(cell => cell.setAttribute("role", cell.tagName === "TH" ? "columnheader" : "cell"));
    return element("div", {class: "wide"}, element("table", {class: "stacked", role: "table"}, element("thead", {role: "rowgroup"}, head),
        element("tbody", {role: "rowgroup"}, ...rows)));
}

let pressed = null;
document.addEventListener("pointerdown", event => {
    pressed = event.target;
});
["pointerup", "pointercancel"].forEach(end => document.addEventListener(end, () => setTimeout(() => {
    pressed = null;
})));

// A list is not updated while one of its buttons is pressed or its text is selected. The next response updates it.
export function inUse(parent) {
    const selection = document.getSelection();
    return (pressed !== null && parent.contains(pressed)) || (!selection.isCollapsed && parent.contains(selection.anchorNode));
}

export function keepingFocus(parent, change) {
    const focused = parent.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
    change();
    if (focused !== undefined) {
        [...parent.querySelectorAll("[data-focus]")].find(node => node.dataset.focus === focused)?.focus();
    }
}

export const problem = message => element("p", {class: "problem"}, message);

// ---- requests to the instance

export class RequestError extends Error {
    constructor(message, status, body) {
        super(message);
        this.status = status;
        this.body = body;
    }
}

export async function request(path, options = {}) {
    const stop = new AbortController();
    const timeout = setTimeout(() => stop.abort(), TIMEOUT_MILLIS);
    try {
        const response = await fetch(path, {...options, signal: stop.signal, redirect: "manual", cache: "no-store"});
        const json = (response.headers.get("Content-Type") ?? "").startsWith("application/json") ? await response.json() : null;
        if (response.ok && json !== null) {
            return json;
        }
        if (response.type === "opaqueredirect") {
            throw new RequestError("Your login has expired. Reload the page.");
        }
        throw new RequestError(json?.message ?? `The instance returned status ${response.status}. If your login has expired, reload the page.`,
            response.status, json);
    } finally {
        clearTimeout(timeout);
    }
}

export const post = (path, body) => request(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
